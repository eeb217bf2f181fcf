"""Ways in which a package's file itself can be damaged or hostile: nothing of it may be unpacked."""

from __future__ import annotations

import csv
import io
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field

import zstandard

from build_capture.package.ar import read_ar, write_ar
from build_capture.package.extend_wheel import record_line
from build_capture.package.tar import write_tar
from tests.package.harness import SET


@dataclass(frozen=True)
class Hostile:
    """One way."""

    name: str
    apply: Callable[[bytes], bytes]
    """From the bytes of a good package to those of a bad one."""
    message: str
    limits: dict[str, int] = field(default_factory=dict)
    """Limits of build_capture/package/members.py that are lower in this test, so that it is quick."""


def compress(data: bytes, **options: int) -> bytes:
    """A zstandard frame."""
    return zstandard.ZstdCompressor(**options).compress(data)


def decompress(data: bytes) -> bytes:
    """What a frame holds."""
    return zstandard.ZstdDecompressor().decompress(data)


def tar_with(name: str, kind: bytes = tarfile.REGTYPE, *, target: str = "", data: bytes = b"x", size: int | None = None) -> Callable[[bytes], bytes]:
    """Adds one member to the tar in an archive. With a `size`, the header promises another than the data has."""

    def apply(archive: bytes) -> bytes:
        info = tarfile.TarInfo(name)
        info.type, info.linkname = kind, target
        info.size = (len(data) if kind == tarfile.REGTYPE else 0) if size is None else size
        body = data + bytes(-len(data) % 512) if kind == tarfile.REGTYPE else b""
        # In front: a tar archive ends with zeros that later members would follow.
        return compress(info.tobuf(tarfile.USTAR_FORMAT) + body + decompress(archive))

    return apply


def long_name(archive: bytes) -> bytes:
    """A member whose name is in an extended header: a reader would take all of that into memory."""
    info = tarfile.TarInfo("share/" + "x" * 300)
    return compress(info.tobuf(tarfile.GNU_FORMAT) + decompress(archive))


def bomb(archive: bytes) -> bytes:
    """More than a mebibyte of zeros, in files of 64 KiB."""
    return compress(b"".join(header(f"share/{number}", 64 << 10) + bytes(64 << 10) for number in range(17)))


def header(name: str, size: int) -> bytes:
    """A tar header."""
    info = tarfile.TarInfo(name)
    info.size = size
    return info.tobuf(tarfile.USTAR_FORMAT)


def many(archive: bytes) -> bytes:
    """A hundred members and one."""
    return compress(b"".join(header(f"{number}", 0) for number in range(101)))


def wide(archive: bytes) -> bytes:
    """The same archive in a frame that asks its reader for 128 MiB."""
    parameters = zstandard.ZstdCompressionParameters(window_log=27, write_content_size=0)
    writer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    return writer.compress(decompress(archive)) + writer.flush()


def tar_without(name: str) -> Callable[[bytes], bytes]:
    """Leaves one file out of an archive."""

    def apply(archive: bytes) -> bytes:
        with tarfile.open(fileobj=io.BytesIO(decompress(archive))) as old:
            files = {member.name: old.extractfile(member).read() for member in old if member.isfile()}  # type: ignore[union-attr]
        del files[name]
        return compress(write_tar(files))

    return apply


def flipped(data: bytes) -> bytes:
    """One bit in the middle is another."""
    changed = bytearray(data)
    changed[len(data) // 2] ^= 16
    return bytes(changed)


ARCHIVES = [
    Hostile("a path with ..", tar_with("share/../../etc/cron.d/x"), ":share/../../etc/cron.d/x: error: its path has a .. in it"),
    Hostile("an absolute path", tar_with("/etc/cron.d/x"), ":/etc/cron.d/x: error: its path is absolute"),
    Hostile("a path with a control character", tar_with("share/x\n"), ":share/x\\n: error: its path is none that a package has"),
    Hostile("a path with a backslash", tar_with("share\\..\\x"), "error: its path is none that a package has"),
    Hostile("an extended header", long_name, "error: it is of a kind that packages do not use"),
    Hostile("a symbolic link", tar_with("share/x", tarfile.SYMTYPE, target="/etc"), ":share/x: error: it is a symbolic link"),
    Hostile("a hard link", tar_with("share/x", tarfile.LNKTYPE, target="/etc/passwd"), ":share/x: error: it is a hard link"),
    Hostile("a device", tar_with("share/x", tarfile.BLKTYPE), ":share/x: error: it is a device"),
    Hostile("a pipe", tar_with("share/x", tarfile.FIFOTYPE), ":share/x: error: it is a pipe"),
    Hostile("a file twice", tar_with(f"{SET}/aot.json"), "aot.json: error: it is there twice, so one would replace the other"),
    Hostile("a file where a folder is", tar_with("share/sample"), "share/sample: error: it is there twice"),
    Hostile("another case", tar_with("SHARE/sample/cuda/sm121/aot.json"), "error: its path is that of SHARE in another writing"),
    Hostile("a file too much", tar_with("share/sample/engine.sh"), ":share/sample/engine.sh: error: it is no part of the package"),
    Hostile("a file too large", tar_with("share/x", size=65 << 20), "error: it would unpack to 68157440 bytes; no file of a package has more than 67108864"),
    Hostile("a bomb", bomb, "error: it would unpack to more than 1048576 bytes in all", {"BYTES_MAX": 1 << 20}),
    Hostile("too many files", many, "error: it has more than 100 members", {"MEMBERS_MAX": 100}),
    Hostile("a window too large", wide, "error: its compressed data is damaged, or not for readers of 8 MiB"),
    Hostile("cut off", lambda archive: archive[:-40], "error: it is cut off: its compressed data has no end"),
    Hostile("a bit flipped", flipped, "error: its compressed data is damaged"),
    Hostile("bytes at its end", lambda archive: archive + b"x", "error: something follows its compressed data"),
    Hostile("bytes after the tar", lambda archive: compress(decompress(archive) + b"x"), "error: something follows the end of its tar archive"),
    Hostile("no tar", lambda archive: compress(b"x" * 2048), "error: its tar archive is damaged"),
    Hostile("nothing in it", lambda archive: compress(write_tar({})), "error: it holds no captured set"),
    Hostile("no manifest", tar_without(f"{SET}/manifest.json"), "manifest.json: error: it is missing; every packaged set has one"),
    Hostile("no aot.json", tar_without(f"{SET}/aot.json"), "error: there is no aot.json, so this is no set, or not all of it"),
]


def zip_with(name: str, data: bytes = b"x", *, mode: int = 0o100644, listed: bool = True) -> Callable[[bytes], bytes]:
    """Adds one file to a wheel, and to its RECORD."""

    def apply(wheel: bytes) -> bytes:
        def edit(files: dict[str, bytes]) -> None:
            record = next(path for path in files if path.endswith("RECORD"))
            if listed:
                line = io.StringIO()
                csv.writer(line, lineterminator="\n").writerow(record_line(name, data))
                files[record] = line.getvalue().encode() + files[record]

        written = io.BytesIO(zip_edited(wheel, edit))
        with zipfile.ZipFile(written, "a") as archive:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            archive.writestr(info, data)
        return written.getvalue()

    return apply


def zip_edited(wheel: bytes, edit: Callable[[dict[str, bytes]], object]) -> bytes:
    """A wheel with its files changed by `edit`."""
    with zipfile.ZipFile(io.BytesIO(wheel)) as old:
        files = {name: old.read(name) for name in old.namelist()}
    edit(files)
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as new:
        for name, data in files.items():
            new.writestr(name, data)
    return output.getvalue()


def zip_changing(ending: str, data: bytes | None) -> Callable[[bytes], bytes]:
    """Puts `data` into the wheel's file of that ending, or removes it; RECORD stays as it is."""

    def edit(files: dict[str, bytes]) -> None:
        name = next(path for path in files if path.endswith(ending))
        del files[name]
        if data is not None:
            files[name] = data

    return lambda wheel: zip_edited(wheel, edit)


MODULE = "sample_cuda_sm121"

WHEELS = [
    Hostile("a path with ..", zip_with("../x"), ":../x: error: its path has a .. in it"),
    Hostile("an absolute path", zip_with("/etc/x"), ":/etc/x: error: its path is absolute"),
    Hostile("a symbolic link", zip_with(f"{MODULE}/x", b"/etc", mode=0o120777), f":{MODULE}/x: error: it is a symbolic link"),
    Hostile("a file that RECORD lacks", zip_with(f"{MODULE}/x.py", listed=False), f":{MODULE}/x.py: error: RECORD does not list it"),
    Hostile("a file gone", zip_changing("__init__.py", None), "__init__.py: error: RECORD lists it, and it is not there"),
    Hostile("a file changed", zip_changing("__init__.py", b"import os"), "__init__.py: error: its bytes are not those that RECORD has"),
    Hostile("no RECORD", zip_changing("RECORD", None), "error: it has 0 RECORD files; expected one"),
    Hostile("a RECORD that is none", zip_changing("RECORD", b'"'), "RECORD: error: it is no RECORD"),
    Hostile("a library of the host", zip_with(f"{MODULE}/x.so", b"\x7fELF\x02\x01"), "x.so: error: it is an ELF outside of the sets"),
    Hostile("a library that is named a cubin", zip_with(f"{MODULE}/x.cubin", b"\x7fELF\x02\x01"), "x.cubin: error: it is an ELF outside of the sets"),
    Hostile("a file in a set", zip_with(f"{MODULE}/{SET}/x"), f"{SET}/x: error: it is no part of a set"),
    Hostile("a case", zip_with(f"{MODULE}/{SET}/AOT.json"), "AOT.json: error: its path is that of"),
    Hostile("too many files", lambda wheel: wheel + b"PK\x01\x02" * 101, "error: it has more than 100 members", {"MEMBERS_MAX": 100}),
    Hostile("cut off", lambda wheel: wheel[:-100], "error: its zip archive is damaged"),
    Hostile("a byte changed", lambda wheel: wheel.replace(b"_add\0", b"_sub\0", 1), "error: its zip archive is damaged: Bad CRC-32"),
]


def deb_with(**members: bytes) -> Callable[[bytes], bytes]:
    """Replaces or adds members of the .deb; `_` in a name stands for a point."""
    return lambda deb: write_ar(read_ar(deb, "") | {name.replace("_", "."): data for name, data in members.items()}, 0)


def deb_part(part: str, edit: Callable[[dict[str, bytes]], object]) -> Callable[[bytes], bytes]:
    """Changes the files of one of a .deb's two archives."""

    def apply(deb: bytes) -> bytes:
        members = read_ar(deb, "")
        name = f"{part}.tar.zst"
        with tarfile.open(fileobj=io.BytesIO(decompress(members[name]))) as old:
            files = {member.name.removeprefix("./"): old.extractfile(member).read() for member in old if member.isfile()}  # type: ignore[union-attr]
        edit(files)
        return write_ar(members | {name: compress(write_tar(files, "./"))}, 0)

    return apply


DEB_SET = f"usr/{SET}"

DEBS = [
    Hostile(
        "a script that dpkg runs",
        deb_part("control", lambda files: files.update(postinst=b"#!/bin/sh")),
        "expected control and md5sums, and nothing that dpkg would run",
    ),
    Hostile("no md5sums", deb_part("control", lambda files: files.pop("md5sums")), "control.tar.zst: error: it holds control; expected control and md5sums"),
    Hostile("one architecture", deb_part("control", lambda files: files.update(control=b"Architecture: arm64\n")), "error: it is not for all architectures"),
    Hostile("a file gone", deb_part("data", lambda files: files.pop(f"{DEB_SET}/README.md")), "README.md: error: md5sums lists it, and it is not there"),
    Hostile(
        "a file changed",
        deb_part("data", lambda files: files.update({f"{DEB_SET}/README.md": b""})),
        "README.md: error: its bytes are not those that md5sums has",
    ),
    Hostile("a file too much", deb_part("data", lambda files: files.update({"etc/x": b""})), ":etc/x: error: md5sums does not list it"),
    Hostile("another member", deb_with(extra=b""), "error: it holds debian-binary, control.tar.zst, data.tar.zst, extra; expected"),
    Hostile(
        "a link", deb_with(data_tar_zst=tar_with("x", tarfile.SYMTYPE, target="/")(compress(write_tar({})))), "data.tar.zst:x: error: it is a symbolic link"
    ),
    Hostile("no ar archive", lambda deb: deb[1:], "error: it is not a .deb: it does not start as an ar archive does"),
    Hostile("cut off", lambda deb: deb[:-10], "error: it is cut off within data.tar.zst"),
    Hostile("a header damaged", lambda deb: deb.replace(b"`\n", b"x\n", 1), "error: it is damaged: there is no ar header at byte 8"),
]
