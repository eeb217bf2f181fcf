"""A wheel of captured sets: pure Python, because a cubin is data for a GPU and says nothing of the host."""

from __future__ import annotations

import contextlib
import csv
import io
import re
import struct
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from build_capture import __version__
from build_capture.package.damage import damage
from build_capture.package.extend_wheel import GROUP, record_line, zip_entry
from build_capture.package.members import Members, write_member
from build_capture.package.names import PackageNames
from build_capture.package.set_module import set_module

METADATA = """Metadata-Version: 2.1
Name: {name}
Version: {version}
Summary: {summary}
Requires-Python: >=3.8
"""

WHEEL = f"""Wheel-Version: 1.0
Generator: build-capture {__version__}
Root-Is-Purelib: true
Tag: py3-none-any
"""

ENTRY_POINTS = """[console_scripts]
{package} = {module}:main

[{group}]
{module} = {module}:folder
"""

_GENERATOR = "Generator: build-capture "

_NEEDED = {"WHEEL": "Wheel-Version", "METADATA": "Name"}
"""The files without which pip installs no wheel, each with a field that it reads."""

ELF_MAGIC = b"\x7fELF"

_ENTRY = b"PK\x01\x02"
"""The start of each entry in a zip's directory."""

_END = b"PK\x05\x06"
_END_BYTES = 22
"""The record at the end of a zip that has no comment."""

_READABLE = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_KIND_BITS = 0o170000
_LINK, _FILE, _FOLDER = 0o120000, 0o100000, 0o040000
_EXECUTABLE = 0o7111
"""The bits of a mode that let a file run, of which pip keeps the last."""


def write_wheel(names: PackageNames, files: Mapping[str, bytes], summary: str) -> bytes:
    """The wheel that holds `files` (by their paths below a prefix) in its module. Stored, not compressed: its bytes then
    depend on no version of zlib, which is the host's."""
    info = f"{names.package.replace('-', '_')}-{names.version}.dist-info"
    held = {f"{names.module}/{name}": data for name, data in {**files, **set_module(names.app)}.items()}
    held[f"{info}/METADATA"] = METADATA.format(name=names.package, version=names.version, summary=summary).encode()
    held[f"{info}/WHEEL"] = WHEEL.encode()
    held[f"{info}/entry_points.txt"] = ENTRY_POINTS.format(package=names.package, module=names.module, group=GROUP).encode()
    lines = io.StringIO()
    rows = [record_line(name, data) for name, data in sorted(held.items())]
    csv.writer(lines, lineterminator="\n").writerows([*rows, (f"{info}/RECORD", "", "")])
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as archive:
        # PEP 427 wants the metadata last.
        for name in sorted(held, key=lambda name: (name.startswith(info), name)):
            archive.writestr(zip_entry(name), held[name], zipfile.ZIP_STORED)
        archive.writestr(zip_entry(f"{info}/RECORD"), lines.getvalue(), zipfile.ZIP_STORED)
    return output.getvalue()


def unpack_wheel(source: BinaryIO, shown: str, folder: Path) -> dict[str, bool]:
    """Unpack a wheel below `folder`, all of it judged first; returns the paths of its files, and whether each would be executable.

    `shown` is its name in messages.
    """
    members = Members(shown)
    # zipfile reads the whole directory at once, whatever it counts.
    data = source.read()
    members.refuse_more(data.count(_ENTRY))
    with _guarded(shown), zipfile.ZipFile(source) as archive:
        entries = [(entry, _admitted(entry, members, shown)) for entry in archive.infolist()]
        # zipfile looks for the archive within the file, wherever it lies.
        if min((entry.header_offset for entry, _ in entries), default=0) > 0:
            raise damage("something precedes its zip archive", shown)
        if not data[-_END_BYTES:].startswith(_END):
            raise damage("something follows its zip archive", shown)
        files = [(entry, name) for entry, name in entries if not entry.is_dir()]
        for entry, name in files:
            write_member(folder / name, archive.read(entry))
    return {name: bool(entry.external_attr >> 16 & _EXECUTABLE) for entry, name in files}


@contextlib.contextmanager
def _guarded(shown: str) -> Iterator[None]:
    """Turns all that zipfile raises for a damaged archive into an error: it seeks and decodes before it has checked."""
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError, struct.error) as error:
        raise damage(f"its zip archive is damaged: {error}", shown) from error


def _admitted(entry: zipfile.ZipInfo, members: Members, shown: str) -> str:
    # zipfile itself cuts a name at a NUL and turns backslashes; what the archive says is judged.
    name = entry.orig_filename
    kind = entry.external_attr >> 16 & _KIND_BITS
    if kind not in (0, _FILE, _FOLDER):
        members.refuse_kind(name, "a symbolic link" if kind == _LINK else "of a kind that packages do not use")
    if entry.flag_bits & 1 or entry.compress_type not in _READABLE:
        raise damage("it is encrypted, or compressed in a way that wheels are not", f"{shown}:{name}")
    return members.admit(name, entry.file_size, folder=entry.is_dir())


def check_record(folder: Path, names: Collection[str], shown: str) -> str:
    """Raise a `CaptureError` unless the unpacked wheel's RECORD lists each file, as it is, and no other. Returns RECORD's folder."""
    records = [name for name in names if name.endswith(".dist-info/RECORD") and name.count("/") == 1]
    if len(records) != 1:
        raise damage(f"it has {len(records)} RECORD files; expected one", shown)
    try:
        rows = list(csv.reader(io.StringIO((folder / records[0]).read_text(encoding="utf-8")), strict=True))
    except (csv.Error, UnicodeDecodeError) as error:
        raise damage(f"it is no RECORD: {error}", f"{shown}:{records[0]}") from error
    recorded = {row[0]: tuple(row) for row in rows if row}
    for name in sorted(set(names) | set(recorded)):
        if name not in recorded:
            raise damage("RECORD does not list it, so an uninstall would leave it behind", f"{shown}:{name}")
        if name not in names:
            raise damage("RECORD lists it, and it is not there", f"{shown}:{name}")
        if name != records[0] and recorded[name] != record_line(name, (folder / name).read_bytes()):
            raise damage("its bytes are not those that RECORD has", f"{shown}:{name}")
    return str(PurePosixPath(records[0]).parent)


def own_files(folder: Path, info: str, shown: str) -> str | None:
    """The files beside the sets of a wheel that `write_wheel` made, as a pattern; None of another's, which has modules of its own.

    `info` is RECORD's folder. Raises a `CaptureError` for a wheel that pip would not install.
    """
    texts = {}
    for name, field in _NEEDED.items():
        path = folder / info / name
        texts[name] = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
        if not re.search(f"^{field}: ", texts[name], re.MULTILINE):
            raise damage(f"it is missing, or has no {field}; pip installs no wheel without", f"{shown}:{info}/{name}")
    if _GENERATOR not in texts["WHEEL"]:
        return None
    distribution, _, _ = info.partition("-")
    return rf"_?{re.escape(distribution)}/__(init|main)__\.py|{re.escape(info)}/(METADATA|RECORD|WHEEL|entry_points\.txt)"


def refuse_programs(folder: Path, names: Sequence[str], shown: str) -> None:
    """Raise a `CaptureError` for a program or library of a host among files outside of the sets, in a package that is for any host."""
    for name in names:
        with (folder / name).open("rb") as stream:
            if stream.read(len(ELF_MAGIC)) == ELF_MAGIC:
                raise damage("it is an ELF outside of the sets; a package for any machine holds cubins only", f"{shown}:{name}")
