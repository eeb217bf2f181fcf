"""Unpacks a package, whatever its format, and judges all of it but its sets."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath
from typing import BinaryIO

import msgspec

from build_capture.errors import CaptureError, Place, raise_all
from build_capture.package.damage import damage
from build_capture.package.deb import installed_name, unpack_deb
from build_capture.package.folder import VerifiedSet
from build_capture.package.manifest import MANIFEST
from build_capture.package.members import BYTES_MAX
from build_capture.package.names import package_names
from build_capture.package.tar import unpack_tar_zst
from build_capture.package.wheel import check_record, own_files, refuse_programs, unpack_wheel
from build_capture.sets.read import AOT_JSON

TARGET_FOLDER = re.compile(r"sm[0-9]+")

_SET_FOLDER = f"share/[^/]+/cuda/{TARGET_FOLDER.pattern}"


class _Opened(msgspec.Struct, frozen=True):
    """What a format's reader says of a package."""

    names: Sequence[str]
    """Of its files, relative to where they lie."""
    folders: str
    """Where its sets may lie, as a pattern."""
    beside: str
    """What may lie outside of the sets, as a pattern."""
    ours: bool = True
    """Whether `package` made it; else a build backend, which puts sets beside modules of the consumer's own."""
    called: tuple[str, str] | None = None
    """The name and the version that it is installed under; None where it says nothing of it."""
    any_host: bool = True
    """Whether it is for every machine, and so may hold no program of one."""


class Unpacked(msgspec.Struct, frozen=True):
    """A package in a folder that will be removed."""

    shown: str
    """The package, as the user knows it."""
    kind: str
    """archive, wheel or deb."""
    root: Path
    sets: list[str]
    """The folders of its sets, relative to `root`."""
    ours: bool
    """As `_Opened` has them."""
    called: tuple[str, str] | None


def unpack(path: Path, folder: Path) -> Unpacked:
    """Unpack a package below `folder`. Raises a `CaptureError` where something outside of its sets is not as `package` writes it."""
    ending = next((ending for ending in _FORMATS if path.name.endswith(ending)), None)
    if ending is None:
        raise CaptureError("this is no package that is known", where=Place(str(path)), mend=f"expected a file that ends in {', '.join(_FORMATS)}")
    kind, inner, open_ = _FORMATS[ending]
    shown = str(path)
    if (size := path.stat().st_size) > BYTES_MAX:
        raise damage(f"it has {size} bytes; a package has at most {BYTES_MAX}", shown)
    with path.open("rb") as source:
        opened = open_(source, shown, folder)
    root = folder / inner
    sets = sorted({str(PurePosixPath(name).parent) for name in opened.names if PurePosixPath(name).name in (AOT_JSON, MANIFEST)})
    if not sets:
        raise damage("it holds no captured set", shown)
    elsewhere = [name for name in sets if not re.fullmatch(opened.folders, name)]
    raise_all([damage("engines do not look for a set there, but in share/<app>/cuda/sm<NN>", f"{shown}:{name}") for name in elsewhere])
    outside = [name for name in opened.names if not name.startswith(tuple(f"{folder}/" for folder in sets))]
    raise_all([damage("it is no part of the package", f"{shown}:{name}") for name in outside if not re.fullmatch(opened.beside, name)])
    if opened.any_host:
        refuse_programs(root, outside, shown)
    return Unpacked(shown, kind, root, sets, opened.ours, opened.called)


def refuse_other_name(unpacked: Unpacked, sets: Sequence[VerifiedSet]) -> None:
    """Raise a `CaptureError` where a package would be installed as another than that of its sets: it would replace that one."""
    if unpacked.called is None:
        return
    app = PurePosixPath(unpacked.sets[0]).parts[-3]
    name, version = unpacked.called
    try:
        wanted = package_names(app, "0", sorted(sets, key=lambda one: one.gpu.capability))
    except CaptureError as error:
        raise damage(error.what, unpacked.shown) from error
    if name != wanted.package or not version.endswith(wanted.local_version):
        raise damage(f"it is called {name} {version}; expected {wanted.package}, of a version that ends in {wanted.local_version}", unpacked.shown)


def _open_archive(source: BinaryIO, shown: str, folder: Path) -> _Opened:
    return _Opened(unpack_tar_zst(source, shown, folder), _SET_FOLDER, beside="(?!)")


def _open_wheel(source: BinaryIO, shown: str, folder: Path) -> _Opened:
    files = unpack_wheel(source, shown, folder)
    info = check_record(folder, files, shown)
    own = own_files(folder, info, shown)
    any_host = shown.endswith("-none-any.whl")
    if own is None:
        # RECORD answers for the consumer's own modules, and for sets that were put in without a manifest.
        return _Opened([*files], ".*", beside=".*", ours=False, any_host=any_host)
    raise_all([damage("it would be executable; nothing in a package is", f"{shown}:{name}") for name, runs in files.items() if runs])
    name, _, version = info.removesuffix(".dist-info").partition("-")
    return _Opened([*files], f"[^/]+/{_SET_FOLDER}", beside=own, called=(name.replace("_", "-"), version), any_host=any_host)


def _open_deb(source: BinaryIO, shown: str, folder: Path) -> _Opened:
    names = unpack_deb(source.read(), shown, folder)
    called = installed_name(folder)
    return _Opened(names, f"usr/{_SET_FOLDER}", beside=f"usr/share/doc/{re.escape(called[0])}/copyright", called=called)


_FORMATS: dict[str, tuple[str, str, Callable[[BinaryIO, str, Path], _Opened]]] = {
    ".tar.zst": ("archive", "", _open_archive),
    ".whl": ("wheel", "", _open_wheel),
    ".deb": ("deb", "data", _open_deb),
}
"""By the ending of a package's name: its kind, where its files lie below the folder that it is unpacked to, and its reader."""
