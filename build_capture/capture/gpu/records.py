"""What passes between the capture and the process that launches on the GPU."""

from __future__ import annotations

import msgspec

from build_capture.capture.check import expected_constants, expected_parameters
from build_capture.capture.records import ResultParameter
from build_capture.plan.needs import Constant, Need, Options, show_options


class Specialization(msgspec.Struct, frozen=True):
    """What Triton compiled a launch for."""

    function: str
    parameters: list[ResultParameter]
    """The runtime parameters that the kernel keeps, in its order."""
    constants: dict[str, Constant]
    """The constexprs, and 1 for each int that was folded."""
    options: Options
    """As asked for."""

    @classmethod
    def of(cls, need: Need) -> Specialization:
        """What a launch of `need` is compiled for."""
        return cls(need.function, expected_parameters(need), expected_constants(need), need.options)

    def __str__(self) -> str:
        """One line, the same for equal specializations. Whether a float was named as fp32 or fp64 makes no difference to Triton."""
        parameters = ", ".join(f"{p.name}: {p.type}{' div16' if p.div16 else ''}" for p in self.parameters)
        constants = ", ".join(f"{name}={_show(value)}" for name, value in sorted(self.constants.items()))
        return f"{self.function}({parameters}) [{constants}] {show_options(self.options)}"


def _show(constant: Constant) -> str:
    kind = "float" if constant.kind in ("f32", "f64") else constant.kind
    return f"{kind}:{constant.python!r}"


class Recorded(msgspec.Struct, frozen=True):
    """A specialization as it was launched."""

    specialization: Specialization
    hash: str
    """Triton's hash of the kernel that was loaded."""
    cubin_sha256: str
    """Of the cubin that was loaded."""
    launches: int
    """How often."""


class Output(msgspec.Struct, frozen=True):
    """One output of a launch against its reference."""

    what: str
    """The output's name."""
    error: float | None
    """As the family's example measures it; null where it is not finite."""
    limit: float
    """The largest error that passes."""

    @property
    def good(self) -> bool:
        """Whether the numbers are right."""
        return self.error is not None and self.error <= self.limit

    @property
    def share(self) -> float:
        """The error as a part of its limit."""
        return float("inf") if self.error is None else self.error / self.limit if self.limit else float(self.error > 0)


class ExampleRun(msgspec.Struct, frozen=True):
    """One launch of one need."""

    shape: str
    """The grid and the ints of the launch, for messages."""
    outputs: list[Output]
    compact: bool = False
    """Whether it was launched for the values alone: checked like any other, and left out of what a set records."""


class Launched(msgspec.Struct, frozen=True):
    """What came of one need."""

    runs: list[ExampleRun]
    """Empty where the family has no example of it."""
    recorded: list[Recorded]
    """What the hooks saw in the meantime."""
    failure: str = ""
    """Why an example could not be made, launched or compared; empty where all went well."""


class LaunchRequest(msgspec.Struct, frozen=True):
    """What the process is to launch."""

    needs: list[Need]
    modules: dict[str, str]
    """Function -> its Python file, relative to the kernels' folder."""
    folder: str
    """The kernels' folder, absolute."""
    limits: dict[str, int]
    """parallel, window_rows, prompt_rows."""
    target: str
    values: str | None
    """Where to write what the launches take and give, absolute; null for nowhere."""
    device: str = "cuda"
    """The torch device of every tensor."""


class Answer(msgspec.Struct, frozen=True):
    """What the process did."""

    launched: list[Launched]
    """One for each need, in their order."""
    rounds: int
    """How many whole rounds the family served; 0 where it has none to serve."""
    from_rounds: list[Recorded]
    """What the hooks saw in them."""
    failure: str = ""
    """Why serving rounds ended early."""
