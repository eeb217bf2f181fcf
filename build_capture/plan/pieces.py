"""What a domain is made of."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from build_capture.plan.formula import Formula, Interval, interval
from build_capture.plan.parameters import Type

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


def misfit(domain: Domain, type_: Type, names: Mapping[str, Interval]) -> int | None:
    """A whole number that the domain holds for certain and the int `type_` does not; `names` bounds what formulas refer to.

    What a formula reaches for some values alone is told when it is driven.
    """
    low, high = (-(1 << type_.bits - 1) if type_.signed else 0), (1 << type_.bits - type_.signed) - 1
    for piece in domain.pieces:
        start = interval(piece.start.tree, names)
        stop = start if piece.stop is None else interval(piece.stop.tree, names)
        if piece.stop is not None and stop[0] < start[1]:
            continue
        if start[1] < low or start[0] > high:
            return start[1] if start[1] < low else start[0]
        is_exact = start[0] == start[1] and stop[0] == stop[1]
        last = stop[0] - (stop[0] - start[0]) % piece.step if is_exact else high
        if last > high:
            return last
    return None


def address(index: int, residue: int = 0) -> int:
    """A made-up address for the value at `index` of its method, so many bytes past a multiple of 16."""
    return ADDRESS_STEP * (index + 1) + residue
