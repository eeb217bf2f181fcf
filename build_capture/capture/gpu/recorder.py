"""Records what Triton compiles, loads and launches, through its own hooks (`triton.knobs.runtime`, Triton 3.6 to 3.9).

A launch of a specialization that is new to the process comes by in this order, in one thread: the compile hook says what
it is compiled for; the load hook gives the kernel's hash, its files and the handle that it was loaded as; the launch
hook gives that handle. A later launch comes by at the launch hook alone.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from triton import knobs

from build_capture.capture.describe import plain
from build_capture.capture.gpu.records import Recorded, Specialization
from build_capture.capture.records import ResultParameter
from build_capture.errors import CaptureError
from build_capture.files import sha256_of_file
from build_capture.plan.needs import Constant, Options


class Recorder:
    """What was launched since the last `take`."""

    def __init__(self) -> None:
        self._compiled: Specialization | None = None
        self._loaded: dict[int, tuple[Specialization, str, str]] = {}
        self._launches: Counter[int] = Counter()

    def install(self) -> None:
        """Ask Triton to tell of everything from now on."""
        knobs.runtime.jit_post_compile_hook = self.on_compile
        knobs.runtime.kernel_load_end_hook.add(self.on_load)
        knobs.runtime.launch_enter_hook.add(self.on_launch)

    def on_compile(self, *, fn: Any, compile: dict[str, Any], is_manual_warmup: bool, **_: Any) -> None:
        """Triton's hook after a compile. What is only warmed up is not launched now."""
        self._compiled = None if is_manual_warmup else specialization_of(fn.jit_function, compile)

    def on_load(self, module: Any, function: Any, name: str, metadata_group: dict[str, str], hash: str) -> None:
        """Triton's hook after a kernel is on the device."""
        if self._compiled is None:
            raise CaptureError(f"{name} was loaded after a warm-up, so that Triton does not tell what for", mend="launch kernels without warming them up")
        (cubin,) = (path for file, path in metadata_group.items() if file.endswith(".cubin"))
        self._loaded[function] = (self._compiled, hash, sha256_of_file(Path(cubin)))
        self._compiled = None

    def on_launch(self, metadata: Any) -> None:
        """Triton's hook before each launch."""
        self._launches[metadata.get()["function"]] += 1

    def take(self) -> list[Recorded]:
        """What was launched since the last time, sorted."""
        taken = [Recorded(*self._loaded[function], launches) for function, launches in self._launches.items()]
        self._launches.clear()
        return sorted(taken, key=lambda each: str(each.specialization))


def specialization_of(kernel: Any, compile: dict[str, Any]) -> Specialization:
    """What a compile hook's `compile` says: the signature, the hints and the constants by the kernel's parameters."""
    (hints,) = compile["configs"]
    parameters, constants = [], {}
    for index, (name, kind) in enumerate(compile["signature"].items()):
        if kind != "constexpr":
            parameters.append(ResultParameter(name, kind, ["tt.divisibility", 16] in hints.get((index,), [])))
            continue
        constant = Constant.of(plain(compile["constants"][(index,)]))
        if constant is None:
            raise CaptureError(f"constexpr {name} of {kernel.fn.__name__} is a value that a set cannot hold")
        constants[name] = constant
    return Specialization(kernel.fn.__name__, parameters, constants, Options(compile["num_warps"], compile["num_stages"]))
