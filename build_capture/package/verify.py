"""Verifies what was shipped, whatever its form: a set's folder, an archive, a wheel, a .deb, or the prefix it was installed to."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import BinaryIO

import msgspec

from build_capture.errors import CaptureError, CaptureErrors, Place, raise_all
from build_capture.package.damage import damage
from build_capture.package.deb import unpack_deb
from build_capture.package.folder import VerifiedSet, verify_folder
from build_capture.package.manifest import MANIFEST
from build_capture.package.members import BYTES_MAX
from build_capture.package.tar import unpack_tar_zst
from build_capture.package.wheel import check_record, own_files, refuse_programs, unpack_wheel
from build_capture.sets.read import AOT_JSON
from build_capture.targets import Target

_PREFIX_PATTERNS = ("share/*/cuda/sm*", "*/cuda/sm*", "cuda/sm*", "sm*")
"""Where sets lie below a prefix, its share, an app's folder, and that one's cuda: as engines look for them."""

_TARGET_FOLDER = re.compile(r"sm[0-9]+")

_SET_FOLDER = f"share/[^/]+/cuda/{_TARGET_FOLDER.pattern}"

DIGEST_DIGITS_MIN = 12
"""As many as a package's name has."""

_DIGEST = re.compile(f"[0-9a-f]{{{DIGEST_DIGITS_MIN},64}}")


class Verified(msgspec.Struct, frozen=True):
    """What was verified: nothing is missing, changed or too much."""

    path: str
    kind: str
    """folder, prefix, archive, wheel or deb."""
    sets: list[VerifiedSet]


class _Unpacked(msgspec.Struct, frozen=True):
    """An archive's files in a folder that will be removed."""

    root: Path
    names: list[str]
    """Relative to `root`."""
    folders: str
    """Where its sets may lie, as a pattern."""
    beside: str
    """What may lie outside of the sets, as a pattern."""
    manifests: bool
    """Whether each set must have a manifest."""
    any_host: bool = True
    """Whether it is for every machine, and so may hold no program of one."""


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
    if _is_set(os.listdir(path)) or _TARGET_FOLDER.fullmatch(path.resolve().name):
        return Verified(str(path), "folder", _verified([(path.resolve(), str(path))], str(path), target, manifests=False))
    found = {child for pattern in _PREFIX_PATTERNS for child in path.glob(pattern) if _TARGET_FOLDER.fullmatch(child.name)}
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
    kinds = {".tar.zst": ("archive", _open_archive), ".whl": ("wheel", _open_wheel), ".deb": ("deb", _open_deb)}
    ending = next((ending for ending in kinds if path.name.endswith(ending)), None)
    if ending is None:
        raise CaptureError("this is no package that is known", where=Place(str(path)), mend=f"expected a file that ends in {', '.join(kinds)}")
    kind, unpack = kinds[ending]
    shown = str(path)
    if (size := path.stat().st_size) > BYTES_MAX:
        raise damage(f"it has {size} bytes; a package has at most {BYTES_MAX}", shown)
    with tempfile.TemporaryDirectory() as folder, path.open("rb") as source:
        unpacked = unpack(source, shown, Path(folder).resolve())
        sets = sorted({str(PurePosixPath(name).parent) for name in unpacked.names if PurePosixPath(name).name in (AOT_JSON, MANIFEST)})
        if not sets:
            raise damage("it holds no captured set", shown)
        elsewhere = [name for name in sets if not re.fullmatch(unpacked.folders, name)]
        raise_all([damage("engines do not look for a set there, but in share/<app>/cuda/sm<NN>", f"{shown}:{name}") for name in elsewhere])
        outside = [name for name in unpacked.names if not name.startswith(tuple(f"{folder}/" for folder in sets))]
        raise_all([damage("it is no part of the package", f"{shown}:{name}") for name in outside if not re.fullmatch(unpacked.beside, name)])
        if unpacked.any_host:
            refuse_programs(unpacked.root, outside, shown)
        folders = [(unpacked.root / name, f"{shown}:{name}") for name in sets]
        return Verified(shown, kind, _verified(folders, shown, target, manifests=unpacked.manifests))


def _open_archive(source: BinaryIO, shown: str, folder: Path) -> _Unpacked:
    # Judged to its end before anything is written.
    unpack_tar_zst(source, shown, None)
    source.seek(0)
    return _Unpacked(folder, unpack_tar_zst(source, shown, folder), _SET_FOLDER, beside="(?!)", manifests=True)


def _open_wheel(source: BinaryIO, shown: str, folder: Path) -> _Unpacked:
    files = unpack_wheel(source, shown, folder)
    own = own_files(folder, check_record(folder, files, shown), shown)
    any_host = shown.endswith("-none-any.whl")
    if own is None:
        # A build backend's has modules of its own; RECORD answers for them, and for sets that it put in without a manifest.
        return _Unpacked(folder, [*files], ".*", beside=".*", manifests=False, any_host=any_host)
    raise_all([damage("it would be executable; nothing in a package is", f"{shown}:{name}") for name, runs in files.items() if runs])
    return _Unpacked(folder, [*files], f"[^/]+/{_SET_FOLDER}", beside=own, manifests=True, any_host=any_host)


def _open_deb(source: BinaryIO, shown: str, folder: Path) -> _Unpacked:
    names = unpack_deb(source.read(), shown, folder)
    return _Unpacked(folder / "data", names, f"usr/{_SET_FOLDER}", beside="usr/share/doc/[^/]+/copyright", manifests=True)


def _verified(folders: Sequence[tuple[Path, str]], shown: str, target: Target | None, *, manifests: bool) -> list[VerifiedSet]:
    """Each folder's set; at least one of them for `target`, and each for the GPU that its folder is named after."""
    named = [folder.name for folder, _ in folders if _TARGET_FOLDER.fullmatch(folder.name)]
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
        own = verified.target.replace("_", "")
        if _TARGET_FOLDER.fullmatch(folder.name) and folder.name != own:
            problems.append(damage(f"the folder is for {folder.name}, and its set for {own}", verified.folder))
    raise_all(problems)
    have = [verified.target.replace("_", "") for verified in sets]
    if target is not None and target.folder not in have:
        raise damage(f"have {', '.join(have)}, need {target.folder}", shown, f"get the package for {target.name}")
    return sets


def _refuse_other_digest(verified: Verified, digest: str | None) -> None:
    have = [one.digest for one in verified.sets]
    if digest is not None and not any(one.startswith(digest) for one in have):
        raise damage(f"have the digest {', '.join(have)}, need {digest}", verified.path, "get the package that was captured")
