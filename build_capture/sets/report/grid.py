"""Which entries of a set serve the launches of each round: a lane for each number of streams, the rows across."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from build_capture.plan.needs import Need, Span
from build_capture.sets.launch import Launch
from build_capture.sets.match import Index, Policy, match
from build_capture.sets.model import SetKernel
from build_capture.sets.row_ranges import Range, joined

LANES_MAX = 96
"""More numbers of streams than this are not told apart by an eye; some are left out then."""


class Served(msgspec.Struct, frozen=True):
    """What a need gets from a set."""

    need: int
    """Its place among the needs."""
    kind: Literal["exact", "alias", "fallback", "ambiguous", "missing"]
    entry: int | None
    """The place of the entry in the set; None where there is none."""


class Cell(msgspec.Struct, frozen=True):
    """What the launches of one function get in some round; a round may hold several launches of it."""

    served: tuple[Served, ...]

    @property
    def missing(self) -> bool:
        """Whether one of them has no variant."""
        return any(served.kind in ("missing", "ambiguous") for served in self.served)

    @property
    def entries(self) -> tuple[int, ...]:
        """The places of the entries that serve them, each once."""
        return tuple(sorted({served.entry for served in self.served if served.entry is not None}))


class Run(msgspec.Struct, frozen=True):
    """Rounds that differ in their rows alone and ask for the same."""

    first: int
    """Rows of the first round, of all its windows."""
    last: int
    cell: int
    """The place of the cell in its function's list."""


class Lane(msgspec.Struct, frozen=True):
    """The rounds of one kind and number of streams."""

    kind: str
    """`decode` or `prompt`."""
    streams: int
    runs: list[Run]


class FunctionGrid(msgspec.Struct, frozen=True):
    """All rounds of one function."""

    function: str
    cells: list[Cell]
    """Each that occurs, by how many rows of how many streams it covers, the most first."""
    lanes: list[Lane]
    outside: list[Served]
    """What calls over domains ask for, which no round makes."""


WORST_FIRST = ("missing", "ambiguous", "fallback", "alias", "exact")


def serve(launches: Iterable[tuple[int, Launch]], kernels: Sequence[SetKernel], policy: Policy) -> list[Served]:
    """What each need gets from the entries of a set under a policy; of one that several launches ask for, the worst."""
    index = Index(kernels)
    places = {id(kernel): place for place, kernel in enumerate(kernels)}
    found: dict[int, Served] = {}
    for need, launch in launches:
        got = match(index, launch, policy)
        entry = None if got.kernel is None or got.kind == "ambiguous" else places[id(got.kernel)]
        kind = "alias" if got.kind == "exact" and got.kernel is not None and got.kernel.alias else got.kind
        known = found.get(need)
        if known is None or WORST_FIRST.index(kind) < WORST_FIRST.index(known.kind):
            found[need] = Served(need, kind, entry)
    return [found[need] for need in sorted(found)]


def grids(needs: Sequence[Need], served: Sequence[Served]) -> list[FunctionGrid]:
    """A grid for each function, sorted by its name."""
    asked: dict[str, list[tuple[Need, Served]]] = defaultdict(list)
    for need, got in zip(needs, served, strict=True):
        asked[need.function].append((need, got))
    return [_grid(function, asked[function]) for function in sorted(asked)]


def _grid(function: str, asked: Sequence[tuple[Need, Served]]) -> FunctionGrid:
    spans: dict[tuple[str, int], list[tuple[Span, Served]]] = defaultdict(list)
    for need, got in asked:
        for span in need.spans:
            spans[span.kind, span.streams].append((span, got))
    swept = {lane: _sweep(spans[lane]) for lane in sorted(spans)}
    covered: Counter[Cell] = Counter()
    for runs in swept.values():
        for first, last, cell in runs:
            covered[cell] += last - first + 1
    cells = sorted(covered, key=lambda cell: (-covered[cell], cell.entries, [served.need for served in cell.served]))
    number = {cell: place for place, cell in enumerate(cells)}
    lanes = [Lane(*lane, [Run(first, last, number[cell]) for first, last, cell in runs]) for lane, runs in swept.items()]
    return FunctionGrid(function, cells, lanes, [got for need, got in asked if need.launches_of_calls])


def _sweep(spans: Iterable[tuple[Span, Served]]) -> list[tuple[int, int, Cell]]:
    """The spans of one lane as runs that do not overlap: each with all that is asked for in it."""
    changes: dict[int, Counter[Served]] = defaultdict(Counter)
    for span, got in spans:
        changes[span.rows_first][got] += 1
        changes[span.rows_last + 1][got] -= 1
    runs: list[tuple[int, int, Cell]] = []
    present: Counter[Served] = Counter()
    start = 0
    for rows in sorted(changes):
        if present:
            cell = Cell(tuple(sorted(present, key=lambda served: served.need)))
            if runs and runs[-1][1] == start - 1 and runs[-1][2] == cell:
                start = runs.pop()[0]
            runs.append((start, rows - 1, cell))
        present.update(changes[rows])
        for got in changes[rows]:
            if not present[got]:
                del present[got]
        start = rows
    return runs


def rows_of(grid: FunctionGrid, kind: str) -> dict[int, list[Range]]:
    """For each cell the rows of every round that asks for it, whatever its streams; none of those that no round of this kind asks for."""
    ranges: dict[int, list[Range]] = defaultdict(list)
    for lane in grid.lanes:
        for run in lane.runs if lane.kind == kind else ():
            ranges[run.cell].append((run.first, run.last))
    return {cell: joined(ranges[cell]) for cell in sorted(ranges)}
