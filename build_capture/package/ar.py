"""The container of a .deb: a Unix `ar` archive of three members.

Of the libraries on PyPI one that writes the format has had no release since 2019, and the kept ones only read it, more than a
.deb may hold: long names, symbol tables. The format is a header of 60 bytes in front of each member (deb(5)).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from build_capture.package.damage import damage

MAGIC = b"!<arch>\n"
_HEADER = 60
_FIELDS = re.compile(rb"([a-z0-9.-]{1,16}) *([0-9]+) *([0-9]+) *([0-9]+) *([0-7]+) *([0-9]+) *`\n", re.DOTALL)


def write_ar(members: Mapping[str, bytes], time: int) -> bytes:
    """An archive of `members` in their order, all of one time (seconds since 1970)."""
    parts = [MAGIC]
    for name, data in members.items():
        assert len(name) <= 16, "a .deb has short member names only"
        parts.append(f"{name:<16}{time:<12}{0:<6}{0:<6}{'100644':<8}{len(data):<10}`\n".encode())
        parts.append(data + b"\n" * (len(data) % 2))
    return b"".join(parts)


def read_ar(data: bytes, shown: str) -> dict[str, bytes]:
    """The members of the archive, in order. A `CaptureError` says what is wrong with it; `shown` is its name there."""
    if not data.startswith(MAGIC):
        raise damage("it is not a .deb: it does not start as an ar archive does", shown)
    members: dict[str, bytes] = {}
    at = len(MAGIC)
    while at < len(data):
        header = data[at : at + _HEADER]
        fields = _FIELDS.fullmatch(header) if len(header) == _HEADER else None
        if fields is None:
            raise damage(f"it is damaged: there is no ar header at byte {at}", shown)
        name, size = fields[1].decode(), int(fields[6])
        at += _HEADER
        if at + size > len(data):
            raise damage(f"it is cut off within {name}", shown)
        if name in members:
            raise damage(f"it holds {name} twice", shown)
        members[name] = data[at : at + size]
        at += size + size % 2
    return members
