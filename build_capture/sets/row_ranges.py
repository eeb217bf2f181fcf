"""Rounds in words, by how many rows they have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Range = tuple[int, int]
"""The first and the last."""


def joined(ranges: Iterable[Range]) -> list[Range]:
    """The same numbers in as few ranges as can be, sorted."""
    found: list[Range] = []
    for first, last in sorted(ranges):
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    return found


def show_rows(ranges: Sequence[Range], most: int = 6) -> str:
    """Ranges of rows for people: `2..15, 17..31, …, 241..255 rows`. Of more than `most` the first ones and the last are shown; nothing of none."""
    if not ranges:
        return ""
    shown = [str(first) if first == last else f"{first}..{last}" for first, last in ranges]
    if len(shown) > most:
        shown[most - 2 : -1] = ["…"]
    return f"{', '.join(shown)} row{'' if shown == ['1'] else 's'}"
