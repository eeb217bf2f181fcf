"""Verifies the folder of a set: every file there and unchanged, no other, and each cubin what `aot.json` says of it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from build_capture.errors import CaptureError, CaptureErrors, Exit, Place, raise_all
from build_capture.package.cubins import check_cubins
from build_capture.package.damage import damage
from build_capture.package.manifest import LICENCE, MANIFEST, README, sources_of
from build_capture.package.manifest_check import check_manifest
from build_capture.package.members import MEMBER_BYTES_MAX, MEMBERS_MAX
from build_capture.sets.digest import digest
from build_capture.sets.read import AOT_JSON, ReadSet, read_set
from build_capture.targets import Target, parse_target

BESIDE = (LICENCE, MANIFEST, README)
"""What may lie beside a set: what packaging adds."""


DEPTH_MAX = 4
"""How many folders are opened one in another; a set's cubins lie one down."""


class VerifiedSet(msgspec.Struct, frozen=True):
    """A set that is whole."""

    folder: str
    target: str
    digest: str
    """The SHA-256 of what `sha256sum aot.json cubins/*.cubin` prints."""
    entries: int
    cubins: int
    bytes: int
    """Of aot.json and the cubins."""
    packaged: bool
    """Whether a manifest accompanies it, and agrees."""
    sources: dict[str, dict[str, str]]
    """The SHA-256 of the profile, declarations and kernels that it was captured from, by name."""
    notes: tuple[str, ...]
    """What its readers should know, a sentence each."""

    @property
    def gpu(self) -> Target:
        """What its target names."""
        return parse_target(self.target)


def verify_folder(folder: Path, shown: str, *, target: Target | None = None, packaged: bool = False) -> VerifiedSet:
    """What the set in `folder` is. Raises all that is wrong with it, at once, with exit 3. `shown` is the folder's name in messages.

    `target` counts where the set does not say for which GPU it is. A `packaged` set must have a manifest.
    """
    sizes = list_files(folder, shown)
    if AOT_JSON not in sizes:
        raise damage("there is no aot.json, so this is no set, or not all of it", shown)
    try:
        found = read_set(folder)
    except CaptureError as error:
        raise _shown_as(error, folder, shown) from error
    problems = [*_misplaced(found, sizes, shown)]
    target = _target(found, shown, target)
    if not found.captured.kernels:
        problems.append(damage("it lists no kernels, so no launch can be served", f"{shown}/{AOT_JSON}"))
    problems += check_cubins(found, sizes, shown, target)
    own = digest(found)
    if MANIFEST in sizes:
        told = {str(problem.where) for problem in problems}
        problems += [problem for problem in check_manifest(folder, shown, found.captured, own, sizes) if str(problem.where) not in told]
    elif packaged or README in sizes or LICENCE in sizes:
        problems.append(damage("it is missing; every packaged set has one", f"{shown}/{MANIFEST}"))
    raise_all(problems)
    cubins = {found.cubin_name(kernel) for kernel in found.captured.kernels}
    total = sum(sizes[name] for name in (AOT_JSON, *cubins))
    return VerifiedSet(shown, target.name, own, len(found.captured.kernels), len(cubins), total, MANIFEST in sizes, sources_of(found.captured), found.notes)


def list_files(folder: Path, shown: str) -> dict[str, int]:
    """The files below a folder, by name, with their sizes. Nothing is opened; a link, or what is neither file nor folder, is refused."""
    sizes: dict[str, int] = {}
    for path in _walk(folder):
        name = path.relative_to(folder).as_posix()
        if name.count("/") == DEPTH_MAX:
            raise damage(f"it lies {DEPTH_MAX} folders deep; a set's files lie at most one down", f"{shown}/{name}")
        status = path.lstat()
        if not stat.S_ISDIR(status.st_mode) and not stat.S_ISREG(status.st_mode):
            kind = "a symbolic link" if stat.S_ISLNK(status.st_mode) else "no regular file"
            raise damage(f"it is {kind}; a set holds files only", f"{shown}/{name}")
        if stat.S_ISREG(status.st_mode):
            sizes[name] = status.st_size
            if status.st_size > MEMBER_BYTES_MAX:
                raise damage(f"it has {status.st_size} bytes; engines read at most {MEMBER_BYTES_MAX}", f"{shown}/{name}")
        if len(sizes) > MEMBERS_MAX:
            raise damage(f"it has more than {MEMBERS_MAX} files", shown)
    return sizes


def _walk(folder: Path) -> Iterator[Path]:
    with os.scandir(folder) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        yield Path(entry.path)
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(Path(entry.path))


def _misplaced(found: ReadSet, sizes: Mapping[str, int], shown: str) -> Iterator[CaptureError]:
    users = {found.cubin_name(kernel): kernel.fn for kernel in found.captured.kernels}
    for name in sorted(set(users) - set(sizes)):
        yield damage(f"it is missing; aot.json lists it for {users[name]}", f"{shown}/{name}")
    for name in sorted(set(sizes) - set(users) - {AOT_JSON, *BESIDE}):
        what = "aot.json lists no such cubin" if name.startswith(f"{found.bin_dir}/") else "it is no part of a set"
        yield damage(what, f"{shown}/{name}", "remove it, or copy the set anew")


def _target(found: ReadSet, shown: str, given: Target | None) -> Target:
    name = found.captured.target or (given.name if given else "")
    if not name:
        raise CaptureError("the set does not say for which GPU it is", where=Place(f"{shown}/{AOT_JSON}"), mend="name it with --target")
    try:
        return parse_target(name)
    except CaptureError as error:
        raise damage(f"`target` is {name!r}, which is no GPU that is known", f"{shown}/{AOT_JSON}", error.mend) from error


def _shown_as(error: CaptureError, folder: Path, shown: str) -> CaptureError:
    """An error of a reader, with the name of the folder that the user knows, as damage."""
    if isinstance(error, CaptureErrors):
        return CaptureErrors(_shown_as(one, folder, shown) for one in error.errors)
    where = error.where and Place(error.where.file.replace(str(folder), shown, 1), error.where.line, error.where.column)
    return CaptureError(error.what, where=where, mend=error.mend, detail=error.detail, code=Exit.NOT_COVERED)
