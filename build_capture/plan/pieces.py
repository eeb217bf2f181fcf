"""What a domain is made of."""

from __future__ import annotations

import msgspec

from build_capture.plan.formula import Formula

ALIGNMENT = 16
"""Bytes that Triton's pointer classes divide by."""

ADDRESS_STEP = 1 << 28
"""Between the addresses of two parameters: made up, never the same, and a multiple of every alignment."""


class Piece(msgspec.Struct, frozen=True):
    """One whole number, or a range of them."""

    start: Formula
    stop: Formula | None = None
    """The last of the range, where it is one."""
    step: int = 1


class Domain(msgspec.Struct, frozen=True):
    """What one value ranges over."""

    given: bool
    """Whether the profile gives it."""
    reason: str
    """Where it comes from, in words."""
    shown: str
    """The domain in words: `1..256`, `aligned or null`."""
    pieces: tuple[Piece, ...] = ()
    """Of whole numbers."""
    null: bool = False
    """Whether null is among the values; of whole numbers."""
    values: tuple[str, ...] = ()
    """Of anything else: its values as Zig writes them."""
    position: tuple[int, int] = (0, 0)
    """Line and column in the profile."""

    @property
    def formulas(self) -> list[Formula]:
        """Every formula of its pieces."""
        return [part for piece in self.pieces for part in (piece.start, piece.stop) if part is not None]


def address(index: int, residue: int = 0) -> int:
    """A made-up address for the value at `index` of its method, so many bytes past a multiple of 16."""
    return ADDRESS_STEP * (index + 1) + residue
