"""Logs of engines, as they come: whole, cut, prefixed, mixed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO

WHOLE = """\
error: no captured Triton variant of _shared for this launch (warps 4, stages 1):
  Q: *bf16 at 0x7f3a10000000 (16-aligned true)
  OFF: *i64 at 0x7f3a10000100 (16-aligned true)
  ITEMS: *i32 at 0x7f3a10000104 (16-aligned false)
  eps: fp32 1e-6
  seed: u64 7
  W: i32 2
  constexpr H = 24
  constexpr SCALE = 0.0625
info: reason=error (MissingTritonVariant) prompt=75187
"""

CUT = "error: no captured Triton variant of _shared for this launch: Q: *bf16 … W: i32 2"


def prefixed(log: str, before: str) -> str:
    """The log with something before each line; `{n}` there is the line's number."""
    return "".join(f"{before.format(n=number)}{line}\n" for number, line in enumerate(log.splitlines()))


def other_lines(bytes_min: int) -> Iterator[bytes]:
    """Lines of a server that fails at nothing, of at least so many bytes in all."""
    written = number = 0
    while written < bytes_min:
        time = f"2026-11-29T12:{number // 60 % 60:02}:{number % 60:02}Z"
        line = f"{time} svc-{number % 3} | info: W: round of {number % 256} rows, tokens: i32 {number % 97} ms\n".encode()
        written += len(line)
        number += 1
        yield line


def write_log(stream: BinaryIO, bytes_min: int, inside: Sequence[str]) -> None:
    """Write a long log with each of the texts somewhere in it."""
    lines = list(other_lines(bytes_min // (len(inside) + 1)))
    for text in inside:
        stream.writelines(lines)
        stream.write(text.encode() + b"\n")
    stream.writelines(lines)
