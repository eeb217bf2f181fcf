"""Tar archives: written so that the same files give the same bytes, read so that nothing leaves the folder they go to."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from build_capture.errors import CaptureError, Place
from build_capture.package.damage import damage
from build_capture.package.members import BYTES_MAX, MEMBERS_MAX, Members, write_member
from build_capture.package.zstd import Decompressed

TIME = 315532800
"""1980-01-01, the first time that a zip can hold: every file in a package has it."""

FILE_MODE, FOLDER_MODE, ROOT = 0o644, 0o755, "root"
"""Of every file and folder in a package."""

_BLOCK = 512
_STREAM_BYTES_MAX = BYTES_MAX + MEMBERS_MAX * 2 * _BLOCK
"""All members, each with its header and padding."""

_KINDS = {
    tarfile.SYMTYPE: "a symbolic link",
    tarfile.LNKTYPE: "a hard link",
    tarfile.CHRTYPE: "a device",
    tarfile.BLKTYPE: "a device",
    tarfile.FIFOTYPE: "a pipe",
}


def write_tar(files: Mapping[str, bytes], prefix: str = "") -> bytes:
    """A ustar archive: folders and files sorted by name, all root's, all of one time. `prefix` goes before each name."""
    output = io.BytesIO()
    folders = {str(parent) for name in files for parent in PurePosixPath(name).parents} - {"."}
    with tarfile.open(fileobj=output, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in sorted(folders | set(files)):
            info = tarfile.TarInfo(prefix + name)
            info.mtime, info.uname, info.gname = TIME, ROOT, ROOT
            if name in folders:
                info.type, info.mode = tarfile.DIRTYPE, FOLDER_MODE
                archive.addfile(info)
            else:
                info.size, info.mode = len(files[name]), FILE_MODE
                try:
                    archive.addfile(info, io.BytesIO(files[name]))
                except ValueError as error:
                    raise CaptureError("its path is longer than a tar archive takes", where=Place(name), mend="give the set's cubins shorter names") from error
    return output.getvalue()


def unpack_tar_zst(source: BinaryIO, shown: str, folder: Path) -> list[str]:
    """Unpack an archive below `folder`, all of it judged first; returns the paths of its files. `shown` is its name in messages."""
    _read(source, shown, None)
    source.seek(0)
    return _read(source, shown, folder)


def _read(source: BinaryIO, shown: str, folder: Path | None) -> list[str]:
    members = Members(shown)
    stream = Decompressed(source, shown, most=_STREAM_BYTES_MAX)
    names = []
    folders: set[str] = set()
    for archive, member in _walk(stream, members, shown):
        path = members.admit(member.name, member.size, folder=member.isdir())
        _judge(member, members)
        if member.isdir():
            folders.add(path)
            continue
        names.append(path)
        if folder is not None:
            content = archive.extractfile(member)
            assert content is not None, "only files come here"
            write_member(folder / path, content.read())
    while rest := stream.read(1 << 16):
        if rest.strip(b"\0"):
            raise damage("something follows the end of its tar archive", shown)
    for path in sorted(folders - {str(parent) for name in names for parent in PurePosixPath(name).parents} - {""}):
        raise damage("it is a folder that holds nothing", f"{shown}:{path}")
    return names


def _judge(member: tarfile.TarInfo, members: Members) -> None:
    """Refuse what `write_tar` does not write: dpkg, and tar as root, would give the file on disk that mode and that owner."""
    wanted = FOLDER_MODE if member.isdir() else FILE_MODE
    if member.mode != wanted:
        members.refuse(member.name, f"its mode is {member.mode:o}; a package's files have {FILE_MODE:o}, its folders {FOLDER_MODE:o}")
    if (member.uid, member.gid, member.uname, member.gname) != (0, 0, ROOT, ROOT):
        members.refuse(member.name, f"it belongs to {member.uname or member.uid}:{member.gname or member.gid}; all in a package is {ROOT}'s")


def _walk(stream: Decompressed, members: Members, shown: str) -> Iterator[tuple[tarfile.TarFile, tarfile.TarInfo]]:
    class PlainMember(tarfile.TarInfo):
        """Judged as soon as its header is read: a long name or an extended header would be read whole into memory before."""

        @classmethod
        def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> PlainMember:
            member = super().frombuf(buf, encoding, errors)
            if member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.DIRTYPE):
                members.refuse_kind(member.name, _KINDS.get(member.type, "of a kind that packages do not use"))
            return member

    try:
        # Blocks of one header each, so that nothing after the archive's end is read with it.
        with tarfile.open(fileobj=cast(BinaryIO, stream), mode="r|", bufsize=_BLOCK, tarinfo=PlainMember) as archive:
            for member in archive:
                yield archive, member
    except tarfile.TarError as error:
        raise damage(f"its tar archive is damaged: {error}", shown) from error
