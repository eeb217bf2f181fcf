"""Zstandard, with every bound that a stranger's archive needs."""

from __future__ import annotations

from typing import BinaryIO

import zstandard

from build_capture.package.damage import damage

LEVEL = 19

WINDOW_BYTES_MAX = 8 << 20
"""What level 19 uses. A frame may ask its reader for gigabytes."""

_INPUT_BYTES = 1024
"""Read at a time. A block takes at least 4 bytes and gives at most 128 KiB, so that this much gives at most 32 MiB."""


def compress(data: bytes) -> bytes:
    """One frame, with its size and a checksum in it: the same for the same bytes and the same zstandard."""
    return zstandard.ZstdCompressor(level=LEVEL, write_checksum=True, write_content_size=True).compress(data)


class Decompressed:
    """A file object over what one frame holds. Reading it raises a `CaptureError` where the frame is damaged or too large."""

    def __init__(self, source: BinaryIO, shown: str, *, most: int) -> None:
        self._source = source
        self._shown = shown
        self._left = most
        self._frame = zstandard.ZstdDecompressor(max_window_size=WINDOW_BYTES_MAX).decompressobj()
        self._buffer = bytearray()

    def read(self, size: int) -> bytes:
        """Up to `size` bytes; fewer only at the end."""
        while len(self._buffer) < size and not self._frame.eof:
            self._fill()
        taken = bytes(self._buffer[:size])
        del self._buffer[:size]
        return taken

    def _fill(self) -> None:
        compressed = self._source.read(_INPUT_BYTES)
        if not compressed:
            raise damage("it is cut off: its compressed data has no end", self._shown)
        try:
            data = self._frame.decompress(compressed)
        except zstandard.ZstdError as error:
            raise damage(f"its compressed data is damaged, or not for readers of {WINDOW_BYTES_MAX >> 20} MiB: {error}", self._shown) from error
        if self._frame.eof and (self._frame.unused_data or self._source.read(1)):
            raise damage("something follows its compressed data", self._shown)
        self._left -= len(data)
        if self._left < 0:
            raise damage("it would unpack to more than a package may hold", self._shown)
        self._buffer += data
