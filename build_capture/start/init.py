"""`build-capture init`: makes a Zig project ready to capture."""

from __future__ import annotations

from pathlib import Path

import msgspec

from build_capture.errors import CaptureError, Place
from build_capture.files import write_if_changed
from build_capture.plan.list_declarations import bare_profile, list_domains
from build_capture.start.find import find_declarations, find_kernels
from build_capture.read.reader import read_declarations, read_profile
from build_capture.start.profile_text import TO_FILL, profile_text, to_give
from build_capture.words import counted
from build_capture.zig import PACKAGE, Zig, cache_of, find_reader, find_zig

PROFILE = "capture.zon"
BEGIN = "// build-capture: begin"
"""The fragment's first line starts so: where it is, the fragment is not put in again."""

CALL = "_ = addCapture(b, test_step);"


class Started(msgspec.Struct, frozen=True):
    """What `init` did, and what is left to do."""

    declarations: str
    """The declaration file, relative to the project."""
    kernels: str | None
    """The kernels' folder; null where it was not found."""
    launches: int
    wrote_profile: bool
    """False where there was one, which is left as it is."""
    wrote_fragment: bool
    """False where build.zig had it already."""
    next: list[str]
    """What to do, in order."""


def init(folder: Path, declarations: Path | None, kernels: Path | None, target: str, zig_name: str | None, reader_name: str | None, cache: Path | None) -> Started:
    """Write the profile and put the fragment into build.zig; what is there already stays. Nothing is written if anything fails."""
    build = folder / "build.zig"
    if not build.is_file():
        raise CaptureError("there is no build.zig", where=Place(str(folder)), mend="run init in the folder of a Zig project")
    zig = find_zig(zig_name)
    cache = cache_of(folder, cache)
    reader = find_reader(reader_name, zig, cache)
    found = find_declarations(reader, folder, declarations)
    rounds = found.file.parent / "rounds.zig"
    profile = msgspec.structs.replace(bare_profile(found.file), path=folder / PROFILE, rounds=rounds if rounds.is_file() else None)
    kernels = kernels or find_kernels(folder, found.declarations)
    is_new = not profile.path.exists()
    if is_new:
        rows = list_domains(zig, reader, profile, None, found.declarations, cache)
        text = profile_text(folder, found.file, profile.rounds, kernels, target, rows)
        write_if_changed(profile.path, text.encode())
        unfilled = text.count(TO_FILL)
    else:
        unfilled = _unfilled(zig, reader, profile.path, cache)
    spliced = _splice(build)
    return Started(
        declarations=found.file.resolve().relative_to(folder.resolve()).as_posix(),
        kernels=str(kernels) if kernels else None,
        launches=len(found.declarations.launches),
        wrote_profile=is_new,
        wrote_fragment=spliced,
        next=_next_steps(folder, unfilled),
    )


def _unfilled(zig: Zig, reader: Path, path: Path, cache: Path) -> int:
    """How many lines of a profile are still to complete: what nothing in it gives, whatever its comments say."""
    try:
        profile = read_profile(reader, path)
    except CaptureError:
        # No profile yet, such as one whose kernels are still to be named: its comments are all that tells.
        return path.read_text(encoding="utf-8").count(TO_FILL)
    return len(to_give(list_domains(zig, reader, profile, path, read_declarations(reader, profile.declarations), cache)))


def _splice(build: Path) -> bool:
    """Put the fragment at the end of build.zig, unless it is there."""
    text = build.read_text(encoding="utf-8")
    if BEGIN in text:
        return False
    write_if_changed(build, f"{text.rstrip()}\n\n{fragment()}".encode())
    return True


def fragment() -> str:
    """The text of `build.zig.fragment`: inside the installed package, else beside it in a source tree."""
    name = "build.zig.fragment"
    packaged = PACKAGE / name
    return (packaged if packaged.is_file() else PACKAGE.parent / name).read_text(encoding="utf-8")


def _next_steps(folder: Path, unfilled: int) -> list[str]:
    steps = []
    manifest = folder / "build.zig.zon"
    if not manifest.is_file() or "build_capture" not in manifest.read_text(encoding="utf-8"):
        steps.append("add the package: zig fetch --save=build_capture <its URL or path>")
    if "addCapture(b," not in (folder / "build.zig").read_text(encoding="utf-8").replace(fragment(), ""):
        steps.append(f"in build() of build.zig, call {CALL} with the step that runs your tests")
    if unfilled:
        steps.append(f"in {PROFILE}, complete the {counted(unfilled, 'line')} after `{TO_FILL}`, and check the target and the limits")
    else:
        steps.append(f"in {PROFILE}, check the target and the limits")
    return [*steps, "run zig build -Dcapture=true"]
