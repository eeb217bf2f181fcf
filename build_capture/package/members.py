"""The members of an archive, judged by name, kind and size before any of them is read or written."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path
from typing import NoReturn

from build_capture.errors import CaptureError, Place
from build_capture.package.damage import damage

MEMBERS_MAX = 1 << 17
"""More than any set has: the 16 MiB of aot.json that engines read cannot list as many cubins."""

MEMBER_BYTES_MAX = 64 << 20
"""Engines refuse a larger cubin; nothing else in a package is as large."""

BYTES_MAX = 1 << 30
"""Of all members together."""

NAME_BYTES_MAX = 1024
PART_BYTES_MAX = 255
"""What Linux's file systems take."""

_STRANGE = re.compile(r"[\x00-\x1f\x7f\\:\ud800-\udfff]")


class Members:
    """Admits the members of one archive one after another; raises a `CaptureError` for the first that is not to be unpacked."""

    def __init__(self, shown: str) -> None:
        self._shown = shown
        """The archive, as the user knows it."""
        self._seen: dict[str, tuple[str, bool]] = {}
        """Each path in the form in which a file system may take two for one -> as written, and whether it is a folder."""
        self._count = 0
        self._bytes = 0

    def admit(self, name: str, size: int, *, folder: bool = False) -> str:
        """The member's path below the archive's root; empty for the root itself."""
        parts = self._parts(name)
        self._count += 1
        self._bytes += size
        self.refuse_more(self._count)
        if not 0 <= size <= MEMBER_BYTES_MAX:
            self.refuse(name, f"it would unpack to {size} bytes; no file of a package has more than {MEMBER_BYTES_MAX}")
        if self._bytes > BYTES_MAX:
            raise damage(f"it would unpack to more than {BYTES_MAX} bytes in all", self._shown)
        for count in range(1, len(parts) + 1):
            self._claim("/".join(parts[:count]), folder=folder or count < len(parts))
        return "/".join(parts)

    def refuse_more(self, count: int) -> None:
        """Raise where so many members are more than a package has."""
        if count > MEMBERS_MAX:
            raise damage(f"it has more than {MEMBERS_MAX} members", self._shown)

    def refuse_kind(self, name: str, kind: str) -> NoReturn:
        """Raise for a member that is neither a file nor a folder, such as a link."""
        self.refuse(name, f"it is {kind}; a package holds files and folders only")

    def refuse(self, name: str, what: str) -> NoReturn:
        """Raise for a member, whatever its name holds."""
        raise damage(what, f"{self._shown}:{name.encode('unicode_escape').decode()}")

    def _parts(self, name: str) -> list[str]:
        parts = name.removeprefix("./").removesuffix("/").split("/")
        if name.startswith("/"):
            self.refuse(name, "its path is absolute, so it would leave the folder that it is unpacked to")
        if ".." in parts:
            self.refuse(name, "its path has a .. in it, so it would leave the folder that it is unpacked to")
        if name in (".", "./"):
            return []
        if "" in parts or "." in parts or _STRANGE.search(name):
            self.refuse(name, "its path is none that a package has")
        if len(name.encode()) > NAME_BYTES_MAX or any(len(part.encode()) > PART_BYTES_MAX for part in parts):
            self.refuse(name, f"its path is longer than {NAME_BYTES_MAX} bytes, or a part of it than {PART_BYTES_MAX}")
        return parts

    def _claim(self, path: str, *, folder: bool) -> None:
        key = unicodedata.normalize("NFKC", path).casefold()
        known = self._seen.get(key)
        self._seen[key] = (path, folder)
        if known is None or (known == (path, True) and folder):
            return
        if known[0] != path:
            self.refuse(path, f"its path is that of {known[0]} in another writing, so one may replace the other")
        self.refuse(path, "it is there twice, so one would replace the other")


def write_member(path: Path, data: bytes) -> None:
    """Write a member that was admitted. Raises a `CaptureError` where the disk does not take it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        raise CaptureError(f"cannot unpack here: {error.strerror}", where=Place(str(path.parent)), mend="name another folder with TMPDIR") from error
