"""Ways in which a package's file itself can be damaged or hostile: nothing of it may be unpacked. Here the archives; beside, wheels and .debs."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable
from dataclasses import dataclass, field

import zstandard

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


def tar_with(
    name: str, kind: bytes = tarfile.REGTYPE, *, target: str = "", data: bytes = b"x", size: int | None = None, mode: int = 0o644
) -> Callable[[bytes], bytes]:
    """Adds one member to the tar in an archive. With a `size`, the header promises another than the data has."""

    def apply(archive: bytes) -> bytes:
        info = tarfile.TarInfo(name)
        info.type, info.linkname, info.mode, info.uname, info.gname = kind, target, mode, "root", "root"
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
    info.size, info.uname, info.gname = size, "root", "root"
    return info.tobuf(tarfile.USTAR_FORMAT)


def many(archive: bytes) -> bytes:
    """A hundred members and one."""
    return compress(b"".join(header(f"{number}", 0) for number in range(101)))


def wide(archive: bytes) -> bytes:
    """The same archive in a frame that asks its reader for 128 MiB."""
    parameters = zstandard.ZstdCompressionParameters(window_log=27, write_content_size=0)
    writer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    return writer.compress(decompress(archive)) + writer.flush()


Files = dict[str, bytes]
"""Files by their paths in an archive."""


def tar_files(edit: Callable[[Files], object], prefix: str = "") -> Callable[[bytes], bytes]:
    """Changes the files of an archive; `prefix` stands before each path."""

    def apply(archive: bytes) -> bytes:
        with tarfile.open(fileobj=io.BytesIO(decompress(archive))) as old:
            files = {member.name.removeprefix(prefix): old.extractfile(member).read() for member in old if member.isfile()}  # type: ignore[union-attr]
        edit(files)
        return compress(write_tar(files, prefix))

    return apply


def tar_members(ending: str, **changes: int | str) -> Callable[[bytes], bytes]:
    """Changes fields of the members of an archive whose names end so."""

    def apply(archive: bytes) -> bytes:
        output = io.BytesIO()
        with tarfile.open(fileobj=io.BytesIO(decompress(archive))) as old, tarfile.open(fileobj=output, mode="w", format=tarfile.USTAR_FORMAT) as new:
            for member in old:
                content = old.extractfile(member)
                for field_, value in changes.items() if member.name.endswith(ending) else ():
                    setattr(member, field_, value)
                new.addfile(member, content)
        return compress(output.getvalue())

    return apply


def renaming(part: str, other: str) -> Callable[[Files], None]:
    """Puts `other` in the place of `part` in every path."""

    def edit(files: Files) -> None:
        for name in [*files]:
            files[name.replace(part, other)] = files.pop(name)

    return edit


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
    Hostile("no manifest", tar_files(lambda files: files.pop(f"{SET}/manifest.json")), "manifest.json: error: it is missing; every packaged set has one"),
    Hostile("a program", tar_members("aot.json", mode=0o4755), "aot.json: error: its mode is 4755; a package's files have 644, its folders 755"),
    Hostile("a folder that all may write to", tar_members("/cubins", mode=0o777), "cubins: error: its mode is 777; a package's files have 644"),
    Hostile("a file of a user", tar_members("aot.json", uname="me", gid=100), "aot.json: error: it belongs to me:root; all in a package is root's"),
    Hostile("a file of a number", tar_members("aot.json", uid=1000, uname=""), "aot.json: error: it belongs to 1000:root; all in a package is root's"),
    Hostile("a folder too much", tar_with("etc", tarfile.DIRTYPE, mode=0o755), ":etc: error: it is a folder that holds nothing"),
    Hostile("another app", tar_files(renaming("/sample/", "/other/")), "manifest.json: error: `app` is sample, and the folder is other's"),
    Hostile("another place", tar_files(renaming("share/", "lib/")), ":lib/sample/cuda/sm121: error: engines do not look for a set there"),
    Hostile("bytes before it", lambda archive: b"x" + archive, "error: its compressed data is damaged"),
    Hostile("a frame before it", lambda archive: b"\x50\x2a\x4d\x18\x01\0\0\0x" + archive, "error: something follows its compressed data"),
    Hostile("no aot.json", tar_files(lambda files: files.pop(f"{SET}/aot.json")), "error: there is no aot.json, so this is no set, or not all of it"),
]
