"""Small pieces of Zig text."""

from __future__ import annotations

import re

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_RESERVED = frozenset(
    "addrspace align allowzero and anyframe anytype asm break callconv catch comptime const continue defer else enum errdefer error export "
    "extern fn for if inline linksection noalias noinline nosuspend opaque or orelse packed pub resume return struct suspend switch test "
    "threadlocal try union unreachable var volatile while".split()
)


def zig_name(name: str) -> str:
    """A name as Zig writes it after a dot: quoted where it is not plain."""
    return name if _PLAIN.fullmatch(name) and name not in _RESERVED else f"@{zig_string(name)}"


def zig_string(text: str) -> str:
    """A Zig string literal."""
    return '"' + "".join(_ESCAPES.get(letter, letter if letter.isprintable() else f"\\u{{{ord(letter):x}}}") for letter in text) + '"'
