"""Compares the sources that a set was captured from with those in the tree: a set that is kept beside them can fall behind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from build_capture.errors import CaptureError, raise_all
from build_capture.files import sha256_of_file
from build_capture.package.damage import damage
from build_capture.package.folder import VerifiedSet
from build_capture.package.manifest_check import is_local
from build_capture.package.provenance import source_hashes
from build_capture.read.profile import Profile
from build_capture.read.reader import read_declarations, read_profile, source_files
from build_capture.sets.model import SOURCES

_ANEW = "capture anew"


def check_sources(sets: Sequence[VerifiedSet], profile_path: Path, reader: Path) -> int:
    """How many files were compared. Raises, with exit 3, one error for each that is not the one a set was captured from."""
    profile = read_profile(reader, profile_path)
    declarations = source_files(reader, profile, read_declarations(reader, profile.declarations))
    problems = [problem for one in sets for problem in _problems(one, profile, declarations)]
    raise_all(problems)
    return len({(part, name) for one in sets for part, files in one.sources.items() for name in files})


def _problems(verified: VerifiedSet, profile: Profile, declarations: Sequence[Path]) -> Iterator[CaptureError]:
    if lacking := [part for part in SOURCES if not verified.sources.get(part)]:
        yield damage(f"it does not record the {lacking[0]} it was captured from, so nothing can be compared", verified.folder, _ANEW)
        return
    kernels = verified.sources["kernels"]
    if strange := [name for name in kernels if not is_local(name)]:
        yield damage(f"it records a kernel {strange[0]!r}, which would leave its folder", verified.folder, _ANEW)
        return
    # A kernel's module that is new is imported by one that was edited for it, so that those recorded are all there is to compare.
    now = {name: sha256_of_file(profile.kernels / name) for name in kernels if (profile.kernels / name).is_file()}
    yield from _differences(verified.sources["profile"], {profile.path.name: sha256_of_file(profile.path)}, profile.folder)
    yield from _differences(verified.sources["declarations"], source_hashes(declarations, profile.folder), profile.folder)
    yield from _differences(kernels, now, profile.kernels)


def _differences(recorded: Mapping[str, str], now: Mapping[str, str], folder: Path) -> Iterator[CaptureError]:
    for name in sorted(set(recorded) | set(now)):
        if recorded.get(name) == now.get(name):
            continue
        if name not in now:
            what = "the set was captured from it, and it is gone"
        else:
            what = "it is not the file that the set was captured from" if name in recorded else "the set was captured without it"
        yield damage(what, str(folder / name), _ANEW)
