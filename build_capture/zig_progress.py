"""Progress inside `zig build`: Zig hands its children a pipe, and shows what they write to it in its own display.

The message (std.Progress of Zig 0.16 and 0.17, the same in both): a byte that counts nodes; for each node its completed
and estimated counts as little-endian u32 and a name of 120 bytes; then a byte for each node's parent, 255 for none.
"""

from __future__ import annotations

import os
import struct

VARIABLE = "ZIG_PROGRESS"
"""Names the pipe's file descriptor; set only where Zig shows progress."""

_NAME_BYTES = 120
_NO_PARENT = 255


def take_pipe() -> int | None:
    """The pipe of the Zig that started this process, or None. Children must not take it for theirs, so the name goes."""
    text = os.environ.pop(VARIABLE, "")
    return int(text) if text.isdigit() else None


def message(done: int, total: int, title: str) -> bytes:
    """The whole state as one message: the step's counts, and below it what ended last."""
    name = title.encode()[:_NAME_BYTES]
    nodes = struct.pack(f"<II{_NAME_BYTES}s", done, total, b"") + struct.pack(f"<II{_NAME_BYTES}s", 0, 0, name)
    return bytes([2]) + nodes + bytes([_NO_PARENT, 0])


def send(pipe: int, done: int, total: int, title: str) -> None:
    """Show the state. A full or closed pipe loses only this state: the next one is whole again."""
    try:
        os.write(pipe, message(done, total, title))
    except OSError:
        return
