"""Finds what a profile names in a project that has none yet: the declaration file and the kernels' folder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from build_capture.capture.find import kernels_of
from build_capture.errors import CaptureError, Place
from build_capture.read.reader import read_declarations
from build_capture.read.records import Declarations

SKIPPED = frozenset({"zig-out", "zig-pkg", "node_modules", "__pycache__"})
"""Folders that hold what was built or fetched. Hidden ones are left out as well."""

FILES_MAX = 20_000
"""A folder with more files is no project but somebody's home."""


class Found(msgspec.Struct, frozen=True):
    """A declaration file, and what the reader says of it."""

    file: Path
    declarations: Declarations


def files_below(folder: Path, suffix: str) -> Iterator[Path]:
    """The files of a project whose names end so, sorted; raises a `CaptureError` where there are too many of any kind."""
    seen = 0
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in SKIPPED and not name.startswith("."))
        seen += len(names)
        if seen > FILES_MAX:
            raise CaptureError(f"more than {FILES_MAX:,} files", where=Place(str(folder)), mend="run init in the folder of a Zig project")
        yield from (Path(root) / name for name in sorted(names) if name.endswith(suffix))


def find_declarations(reader: Path, folder: Path, given: Path | None) -> Found:
    """The declaration file: `given`, or the one that launches kernels and that no other such file imports.

    Raises a `CaptureError` that names the candidates where there is not exactly one.
    """
    if given is not None:
        return Found(given, read_declarations(reader, given))
    candidates = [path for path in files_below(folder, ".zig") if path.name not in ("build.zig", "rounds.zig") and _imports_cuda(path)]
    found = []
    for path in candidates:
        try:
            found.append(Found(path, read_declarations(reader, path)))
        except CaptureError:
            # No launch, or not Zig: another candidate may be the one, and a file that is named says what is wrong.
            continue
    roots = [one for one in found if not _is_imported(one, found)]
    if len(roots) == 1:
        return roots[0]
    names = ", ".join(str(one.file.relative_to(folder)) for one in roots)
    what = f"{len(roots)} files launch kernels: {names}" if roots else "no file imports `cuda` and launches kernels"
    raise CaptureError(what, where=Place(str(folder)), mend="name the declaration file with --declarations")


def _imports_cuda(path: Path) -> bool:
    """Whether the text of a file names the module; the reader decides what it is."""
    return b'@import("cuda")' in path.read_bytes()


def _is_imported(one: Found, found: Iterable[Found]) -> bool:
    own = one.file.resolve()
    return any(
        (other.file.parent / name).resolve() == own for other in found if other.file != one.file for name in other.declarations.files
    )


def find_kernels(folder: Path, declarations: Declarations) -> Path | None:
    """The folder that holds the modules of the kernels that are launched; None where none defines any, or they lie apart."""
    wanted = {launch.function for launch in declarations.launches}
    folders = {path.parent for path in files_below(folder, ".py") if _defines(path, wanted)}
    if not folders:
        return None
    common = Path(os.path.commonpath([str(path) for path in folders]))
    return common if common != folder else None


def _defines(path: Path, wanted: set[str | None]) -> bool:
    try:
        return any(name in wanted for name in kernels_of(path))
    except (CaptureError, UnicodeDecodeError):
        return False
