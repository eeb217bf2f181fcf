"""The probe: a Zig program that runs the unmodified declaration file on the host and writes down what it launches."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec

from build_capture.errors import CaptureError, Place, raise_all
from build_capture.files import locked, write_if_changed
from build_capture.plan.needs import Span, Witness
from build_capture.process import run_tool
from build_capture.read.profile import Limits, Profile
from build_capture.read.records import Declarations
from build_capture.zig import Zig, zig_sources


ROUND_SECONDS_MAX = 120
"""How long one round may take on the host, where it takes microseconds: what takes longer does not end."""


class ProbedArgument(msgspec.Struct, frozen=True):
    """An argument of a launch, as the probe saw it."""

    name: str
    kind: str
    type: str
    class_: str | None = msgspec.field(name="class")


class ProbedConstexpr(msgspec.Struct, frozen=True):
    """A constexpr that a launch named: exactly one of its values is set."""

    name: str
    whole: int | None = msgspec.field(default=None, name="int")
    """The value of an int."""
    f32: int | None = None
    """The bits of a float, as an unsigned int."""


class ProbedOptions(msgspec.Struct, frozen=True):
    """Launch options that a call site pinned; null where it left them to the kernel."""

    num_warps: int | None
    num_stages: int | None


class ProbedNeed(msgspec.Struct, frozen=True):
    """A distinct launch, before the kernel's own signature and options are known."""

    function: str
    arguments: list[ProbedArgument]
    constexprs: list[ProbedConstexpr]
    options: ProbedOptions
    launches: int
    witness: Witness
    launches_of_calls: int = 0
    """How many of the launches came from calls over domains."""
    spans: list[Span] = []
    """Which rounds ask for it, where that was asked; calls over domains are in none."""


class Probed(msgspec.Struct, frozen=True):
    """All that the rounds within the limits launch."""

    rounds: int
    launches: int
    needs: list[ProbedNeed]
    calls: int = 0
    """How many calls of methods were made over their domains."""


def probe(zig: Zig, profile: Profile, declarations: Declarations, domains: str | None, limits: Limits, cache: Path, *, spans: bool = False) -> Probed:
    """Compile the probe for this consumer and run it over every round within `limits`, then over the domains.

    `domains` is the text of `domains.zig`, where there is one. With `spans` each need says which rounds ask for it.

    Raises a `CaptureError` with the compiler's or the probe's own message, and one for each declared launch that
    no round reaches: a launch that nothing drives would be missing from the set unnoticed.
    """
    # One consumer's probes follow each other in one folder; two consumers never share one.
    folder = cache / "probe" / f"{zig.version}-{hashlib.sha256(str(profile.path.resolve()).encode()).hexdigest()[:16]}"
    with locked(folder):
        program = folder / "probe"
        driver = None if domains is None else folder / "domains.zig"
        if driver is not None:
            write_if_changed(driver, str(domains).encode())
        # Always asked for: Zig alone knows every file that it reads, and its cache answers at once when none changed.
        zig.build(program, _modules(profile, driver), what=f"compiling the probe of {profile.declarations.name}", cache=cache)
        options = [*limit_arguments(limits), "--round-seconds", str(ROUND_SECONDS_MAX), *(["--spans"] if spans else [])]
        output = run_tool([program, *options], what=f"running the probe of {profile.rounds or profile.declarations}")
    probed = msgspec.json.decode(output, type=Probed)
    _check_all_reached(profile, declarations, probed)
    return probed


def limit_arguments(limits: Limits) -> list[str]:
    """The limits as the probe's and the reader's command lines take them."""
    return [
        *("--parallel", str(limits.parallel)),
        *("--window-rows", str(limits.window_rows)),
        *("--prompt-rows", str(limits.prompt_rows)),
    ]


def _modules(profile: Profile, driver: Path | None) -> list[str | Path]:
    """The probe's modules. What it imports as `rounds` is the consumer's rounds.zig, or the driver, which imports that in turn."""
    bridge = zig_sources()
    imports = ("cuda", "build_capture", "profile")
    modules: dict[str, tuple[Path, tuple[str, ...]]] = {
        "coverage": (bridge / "coverage" / "coverage.zig", ("set", "cuda", "build_capture")),
        "set": (bridge / "set" / "set.zig", ()),
        "cuda": (bridge / "cuda" / "cuda.zig", ("set",)),
        "build_capture": (bridge / "coverage" / "round.zig", ()),
        "profile": (profile.path.resolve(), ()),
    }
    if profile.rounds is not None:
        modules["rounds"] = (profile.rounds.resolve(), imports)
    else:
        modules["declarations"] = (profile.declarations.resolve(), imports)
    driven = "rounds"
    if driver is not None:
        driven = "domains"
        modules["domains"] = (driver, ("coverage", "profile", "rounds" if profile.rounds else "declarations"))
    arguments: list[str | Path] = ["--dep", "coverage", "--dep", f"rounds={driven}", f"-Mroot={bridge / 'coverage' / 'probe.zig'}"]
    for name, (root, imported) in modules.items():
        for dependency in imported:
            arguments += ["--dep", dependency]
        arguments.append(f"-M{name}={root}")
    return arguments


def _check_all_reached(profile: Profile, declarations: Declarations, probed: Probed) -> None:
    reached = {need.function for need in probed.needs}
    missed = [launch for launch in declarations.launches if launch.function and launch.function not in reached]
    folder = profile.declarations.parent
    errors = [
        CaptureError(
            f"nothing within the limits reaches this launch of {launch.function} (method {launch.method})",
            where=Place(str(folder / launch.file), launch.line, launch.column),
            mend=f"{_remedy(profile)}, so that its specializations are captured",
        )
        for launch in missed
    ]
    if not probed.needs:
        errors.append(CaptureError("nothing is launched", where=Place(str(profile.rounds or profile.path)), mend=_remedy(profile)))
    raise_all(errors)


def _remedy(profile: Profile) -> str:
    return f"drive it in {profile.rounds.name}" if profile.rounds else f"widen the domains in {profile.path.name}"
