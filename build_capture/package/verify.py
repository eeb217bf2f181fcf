"""Verifies what was shipped, whatever its form: a set's folder, an archive, a wheel, a .deb, or the prefix it was installed to."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from build_capture.errors import CaptureError, CaptureErrors, Place, raise_all
from build_capture.package.damage import damage
from build_capture.package.folder import VerifiedSet, verify_folder
from build_capture.package.manifest import MANIFEST
from build_capture.package.unpack import TARGET_FOLDER, refuse_other_name, unpack
from build_capture.sets.read import AOT_JSON
from build_capture.targets import Target

_PREFIX_PATTERNS = ("share/*/cuda/sm*", "*/cuda/sm*", "cuda/sm*", "sm*")
"""Where sets lie below a prefix, its share, an app's folder, and that one's cuda: as engines look for them."""

DIGEST_DIGITS_MIN = 12
"""As many as a package's name has."""

_DIGEST = re.compile(f"[0-9a-f]{{{DIGEST_DIGITS_MIN},64}}")


class Verified(msgspec.Struct, frozen=True):
    """What was verified: nothing is missing, changed or too much."""

    path: str
    kind: str
    """folder, prefix, archive, wheel or deb."""
    sets: list[VerifiedSet]


def verify(path: Path, *, target: Target | None = None, digest: str | None = None) -> Verified:
    """What `path` holds. Raises all that is wrong with it with exit 3, also where there is no set for `target`, or none with `digest`."""
    if digest is not None and not _DIGEST.fullmatch(digest):
        # The empty one would be the start of any.
        raise CaptureError(f"{digest!r} is no digest", mend=f"expected {DIGEST_DIGITS_MIN} to 64 digits of 0-9 and a-f")
    try:
        verified = _verify(path, target)
    except OSError as error:
        raise CaptureError(f"cannot read this: {error.strerror}", where=Place(str(error.filename or path))) from error
    _refuse_other_digest(verified, digest)
    return verified


def _verify(path: Path, target: Target | None) -> Verified:
    if path.is_dir():
        return _verify_on_disk(path, target)
    if path.name == AOT_JSON and path.is_file():
        return _verify_on_disk(path.parent, target)
    if path.is_file():
        return _verify_archive(path, target)
    raise CaptureError("there is no such file or folder", where=Place(str(path)), mend="expected a set, a package or a prefix")


def _verify_on_disk(path: Path, target: Target | None) -> Verified:
    # As engines name it: they follow links.
    place = Path(os.path.abspath(path))
    if _is_set(os.listdir(path)) or TARGET_FOLDER.fullmatch(place.name):
        return Verified(str(path), "folder", _verified([(place, str(path))], str(path), target, manifests=False))
    found = {child for pattern in _PREFIX_PATTERNS for child in path.glob(pattern) if TARGET_FOLDER.fullmatch(child.name)}
    if not found:
        raise damage("it holds no captured set", str(path), "expected a set, or a prefix with share/<app>/cuda/sm<NN>/aot.json")
    for folder in sorted(found):
        # A set elsewhere is not the one that was installed here.
        if folder.is_symlink() or not folder.is_dir():
            raise damage("it is a link or a file; a set is a folder", str(folder))
    return Verified(str(path), "prefix", _verified([(folder, str(folder)) for folder in sorted(found)], str(path), target, manifests=False))


def _is_set(names: Iterable[str]) -> bool:
    return bool({AOT_JSON, MANIFEST, "cubins"} & set(names))


def _verify_archive(path: Path, target: Target | None) -> Verified:
    with tempfile.TemporaryDirectory() as folder:
        unpacked = unpack(path, Path(folder).resolve())
        folders = [(unpacked.root / name, f"{path}:{name}") for name in unpacked.sets]
        sets = _verified(folders, str(path), target, manifests=unpacked.ours)
        refuse_other_name(unpacked, sets)
        return Verified(str(path), unpacked.kind, sets)


def _verified(folders: Sequence[tuple[Path, str]], shown: str, target: Target | None, *, manifests: bool) -> list[VerifiedSet]:
    """Each folder's set; at least one of them for `target`, and each for the GPU that its folder is named after."""
    named = [folder.name for folder, _ in folders if TARGET_FOLDER.fullmatch(folder.name)]
    if target is not None and len(named) == len(folders) and target.folder not in named:
        raise damage(f"have {', '.join(named)}, need {target.folder}", shown, f"get the package for {target.name}")
    sets: list[VerifiedSet] = []
    problems: list[CaptureError] = []
    for folder, name in folders:
        try:
            sets.append(verify_folder(folder, name, target=target, packaged=manifests))
        except CaptureError as error:
            problems += error.errors if isinstance(error, CaptureErrors) else [error]
    raise_all(problems)
    for folder, verified in zip((folder for folder, _ in folders), sets):
        own = verified.gpu.folder
        if TARGET_FOLDER.fullmatch(folder.name) and folder.name != own:
            problems.append(damage(f"the folder is for {folder.name}, and its set for {own}", verified.folder))
    raise_all(problems)
    have = [one.gpu.folder for one in sets]
    if target is not None and target.folder not in have:
        raise damage(f"have {', '.join(have)}, need {target.folder}", shown, f"get the package for {target.name}")
    return sets


def _refuse_other_digest(verified: Verified, digest: str | None) -> None:
    have = [one.digest for one in verified.sets]
    if digest is not None and not any(one.startswith(digest) for one in have):
        raise damage(f"have the digest {', '.join(have)}, need {digest}", verified.path, "get the package that was captured")
