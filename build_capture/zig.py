"""The user's Zig: finding it, and compiling the reader and the probe with it."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from build_capture.errors import CaptureError, Exit, Place
from build_capture.files import locked, make_folder
from build_capture.process import run_tool

OLDEST = (0, 16, 0)
"""The first Zig that this project compiles with."""

PACKAGE = Path(__file__).resolve().parent


def zig_sources() -> Path:
    """The folder `zig_bridge`: inside the installed package, else beside it in a source tree."""
    installed = PACKAGE / "zig_bridge"
    return installed if installed.is_dir() else PACKAGE.parent / "zig_bridge"


class Zig(msgspec.Struct, frozen=True):
    """A Zig compiler."""

    command: tuple[str, ...]
    """How to start it: one path, or a Python and `-m ziglang`."""
    version: str

    def build(self, output: Path, arguments: Sequence[str | Path], *, what: str, cache: Path) -> None:
        """Compile an executable to `output`; the compiler's errors become a `CaptureError`."""
        make_folder(output.parent)
        # Aside, then renamed: whoever is killed in between leaves the earlier program, and an orphaned compiler writes
        # to a name that nobody reads.
        with tempfile.TemporaryDirectory(dir=output.parent) as aside:
            fresh = Path(aside) / output.name
            options = [f"-femit-bin={fresh}", "--cache-dir", cache / "zig", *_global_cache(cache)]
            try:
                run_tool([*self.command, "build-exe", *options, *arguments], what=what)
            except CaptureError as error:
                raise _missing_name(error) or error from None
            os.replace(fresh, output)


def _global_cache(cache: Path) -> list[str | Path]:
    """Where Zig keeps what projects share. Without a home it would find no place, or make one of a name that means none."""
    places = [os.environ.get(name) for name in ("ZIG_GLOBAL_CACHE_DIR", "XDG_CACHE_HOME", "HOME")]
    return [] if any(place and Path(place).is_dir() for place in places) else ["--global-cache-dir", cache / "zig-global"]


_MISSING_NAME = re.compile(
    r"(?P<file>.+?):(?P<line>\d+):(?P<column>\d+): error: "
    r"(?:root source file struct '(?P<root>cuda|aot)' has no member named|no field or member function named) '(?P<name>[^']+)'"
    r"(?: in '(?P<owner>(?:cuda|aot)\.\w+)')?"
)


def _missing_name(error: CaptureError) -> CaptureError | None:
    """The one error that says which name of an engine's `cuda` module the stand-in lacks; None for any other."""
    for match in filter(None, map(_MISSING_NAME.fullmatch, error.detail.splitlines())):
        owner = match["owner"] or match["root"]
        if owner is None:
            continue
        shown = owner if owner.startswith("cuda") else f"cuda.{owner}"
        return CaptureError(
            f"the stand-in for the engine's module has no {shown}.{match['name']}",
            where=Place(match["file"], int(match["line"]), int(match["column"])),
            mend=f"{shown} offers {', '.join(offered_names(owner))}; what needs more belongs into another file of the engine",
        )
    return None


_STAND_INS_OWN = {"Call", "Sink", "sink"}
"""What no engine has: the stand-in's way to hand launches on."""


def offered_names(owner: str) -> list[str]:
    """What the stand-in offers below `cuda`, `aot`, or a struct of theirs such as `aot.Set`, sorted."""
    module, _, struct = owner.partition(".")
    text = (zig_sources() / "cuda" / f"{module}.zig").read_text(encoding="utf-8")
    indent = "    " if struct else ""
    if struct:
        text = text.partition(f"\npub const {struct} = struct {{\n")[2].partition("\n};")[0]
    found = re.findall(rf"^{indent}(?:pub (?:const|fn) )?(\w+)(?:: | = |\()", text, re.MULTILINE)
    return sorted(set(found) - _STAND_INS_OWN)


def cache_of(folder: Path, given: Path | None) -> Path:
    """The private cache of a consumer in `folder`: what the user names, else beside Zig's own."""
    return (given or folder / ".zig-cache" / "build-capture").resolve()


def find_zig(given: str | None) -> Zig:
    """The Zig named on the command line, else the one on PATH, else the `ziglang` package of this Python."""
    if given:
        command: tuple[str, ...] = (given,)
    elif on_path := shutil.which("zig"):
        command = (on_path,)
    elif importlib.util.find_spec("ziglang"):
        command = (sys.executable, "-m", "ziglang")
    else:
        raise CaptureError("found no Zig", mend="put zig on PATH, name it with --zig, or `pip install ziglang`", code=Exit.TOOL)
    version = run_tool([*command, "version"], what="asking Zig for its version", code=Exit.TOOL).strip()
    digits = tuple(int(part) for part in version.split("-")[0].split(".") if part.isdigit())
    if digits < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise CaptureError(f"Zig {version} is too old", mend=f"expected {oldest} or newer", code=Exit.TOOL)
    return Zig(command, version)


def find_reader(given: str | None, zig: Zig, cache: Path) -> Path:
    """The reader: the one named on the command line, else the package's own where the same Zig compiled it, else compiled now."""
    if given:
        return Path(given)
    packaged = PACKAGE / "bin" / "build-capture-reader"
    record = PACKAGE / "bin" / "reader.json"
    if packaged.is_file() and record.is_file() and msgspec.json.decode(record.read_bytes())["zig"] == zig.version:
        return packaged
    output = cache / "reader" / f"{zig.version}-{digest_of_tree(zig_sources() / 'reader')}" / "build-capture-reader"
    with locked(cache / "reader"):
        if not output.is_file():
            zig.build(output, [zig_sources() / "reader" / "main.zig"], what="compiling the reader", cache=cache)
    return output


def digest_of_tree(folder: Path) -> str:
    """A digest of the names and bytes of every Zig file below `folder`."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.zig")):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]
