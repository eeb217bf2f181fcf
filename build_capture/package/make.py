"""Packages verified sets: one archive, wheel or .deb for one or several targets, the same bytes wherever it is made."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import msgspec

from build_capture.errors import CaptureError, Place, raise_all
from build_capture.files import real_path, write_if_changed
from build_capture.package.deb import write_deb
from build_capture.package.folder import VerifiedSet, verify_folder
from build_capture.package.manifest import LICENCE, MANIFEST, README, file_entry, manifest_for, manifest_text, refuse_unrepeatable
from build_capture.package.names import PackageNames, package_names
from build_capture.package.readme import NO_LICENCE, readme
from build_capture.package.tar import write_tar
from build_capture.package.verify import verify
from build_capture.package.wheel import write_wheel
from build_capture.package.zstd import compress
from build_capture.sets.pack import refuse_folder_of_set
from build_capture.sets.read import AOT_JSON, ReadSet, read_set
from build_capture.targets import parse_target

UNKNOWN_MAINTAINER = "Unknown <unknown@localhost>"
"""dpkg wants the field; packages for others name one."""


class PackageRequest(msgspec.Struct, frozen=True):
    """What a user asks for."""

    sets: tuple[Path, ...]
    out: Path
    formats: tuple[str, ...]
    """tar.zst, wheel, deb."""
    app: str | None
    """None: the family that the sets record."""
    release: str
    licence: Path | None
    maintainer: str
    section: str


class Packaged(msgspec.Struct, frozen=True):
    """What was written."""

    app: str
    digest: str
    """Of the set; of several sets, of the list of their digests."""
    sets: list[VerifiedSet]
    files: list[str]
    """Paths of the packages."""


class _Source(msgspec.Struct, frozen=True):
    verified: VerifiedSet
    found: ReadSet


def package(request: PackageRequest) -> Packaged:
    """Verify the sets and write the packages, all or none, each of which `verify` accepts.

    Raises a `CaptureError` for a set that is damaged, unsound or not ours.
    """
    refuse_folder_of_set(request.out, real_path(request.out))
    sources = [_source(path) for path in request.sets]
    sources.sort(key=lambda source: source.verified.gpu.capability)
    _refuse_twice(sources)
    names = package_names(request.app or _family(sources), request.release, [source.verified for source in sources])
    licence = licence_text(request.licence)
    files = {
        f"{names.folder(source.verified.gpu.folder)}/{name}": data
        for source in sources
        for name, data in packaged_files(source.found, source.verified, names.app, licence).items()
    }
    made = {request.out / file: make() for file, make in _formats(names, files, licence, request).items()}
    for path, data in made.items():
        _refuse_unverified(path, data)
    for path, data in made.items():
        write_if_changed(path, data)
    return Packaged(names.app, names.digest, [source.verified for source in sources], [*map(str, made)])


def _refuse_unverified(path: Path, data: bytes) -> None:
    """Raise a `CaptureError` where `verify` would refuse the package that is to be written to `path`."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, path.name)
        copy.write_bytes(data)
        try:
            verify(copy)
        except CaptureError as error:
            said = str(error).replace(str(copy), str(path))
            raise CaptureError("these sets go into no package, which would be refused", where=Place(str(path)), detail=said) from error


def _formats(names: PackageNames, files: dict[str, bytes], licence: bytes, request: PackageRequest) -> dict[str, Callable[[], bytes]]:
    summary = f"CUDA kernels of {names.app} for {', '.join(parse_target(target).name for target in names.targets)}"
    about = (request.maintainer, request.section)
    _refuse_lines(about)
    made: dict[str, tuple[str, Callable[[], bytes]]] = {
        "tar.zst": (names.archive_file, lambda: compress(write_tar(files))),
        "wheel": (names.wheel_file, lambda: write_wheel(names, files, summary)),
        "deb": (names.deb_file, lambda: write_deb(names, files, summary=summary, maintainer=about[0], section=about[1], licence=licence)),
    }
    return dict(made[format] for format in request.formats)


def _source(path: Path) -> _Source:
    found = read_set(path)
    if found.foreign:
        raise CaptureError("it records no seals, so nothing says what its cubins assume", where=Place(str(found.path)), mend="capture it with build-capture")
    return _Source(verify_folder(found.folder, str(found.folder)), found)


def _refuse_twice(sources: Sequence[_Source]) -> None:
    problems = [
        CaptureError(f"a second set for {later.verified.target}", where=Place(later.verified.folder), mend="package one set for each target")
        for earlier, later in pairwise(sources)
        if earlier.verified.gpu == later.verified.gpu
    ]
    raise_all(problems)


def _family(sources: Sequence[_Source]) -> str:
    families = set()
    for source in sources:
        family = source.found.captured.provenance.get("family")
        if not isinstance(family, str):
            raise CaptureError("it does not say which family it is of", where=Place(str(source.found.path)), mend="name the app that loads it with --app")
        families.add(family)
    if len(families) != 1:
        raise CaptureError(f"the sets are of {len(families)} families: {', '.join(sorted(families))}", mend="name the app that loads them with --app")
    return families.pop()


def licence_text(path: Path | None) -> bytes:
    """The licence that goes into packages; without one they say that none was named."""
    if path is None:
        return NO_LICENCE.encode()
    try:
        return path.read_bytes()
    except OSError as error:
        raise CaptureError(f"cannot read the licence: {error.strerror}", where=Place(str(path))) from error


def _refuse_lines(fields: Sequence[str]) -> None:
    # A line break would start a field of its own in the .deb's control file.
    raise_all(
        [
            CaptureError(f"{field!r} is no field of a Debian package", mend="expected one line")
            for field in fields
            if not re.fullmatch(r"[^\x00-\x1f\ud800-\udfff]+", field)
        ]
    )


def packaged_files(found: ReadSet, verified: VerifiedSet, app: str, licence: bytes) -> dict[str, bytes]:
    """The files of one set's folder as packages hold it: the set, its licence, how to verify it by hand, and the manifest of all that."""
    captured = found.captured
    text = found.path.read_bytes()
    refuse_unrepeatable(text, str(found.path))
    files = {AOT_JSON: text} | {found.cubin_name(kernel): found.read_cubin(kernel) for kernel in captured.kernels}
    files[LICENCE] = licence
    files[README] = readme(app, verified, found.bin_dir, found.bin_ext)
    entries = {name: file_entry(data) for name, data in files.items()}
    files[MANIFEST] = manifest_text(manifest_for(app, captured, verified.digest, entries))
    return files
