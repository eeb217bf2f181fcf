"""The report as tables in a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table
from rich.text import Text

from build_capture.sets.report.data import Report
from build_capture.sets.report.grid import rows_of
from build_capture.sets.report.picture import cell_text
from build_capture.sets.row_ranges import show_rows
from build_capture.words import counted


def grid_table(report: Report) -> Table:
    """A row for each cell of each function: which rounds ask for it, and what serves them."""
    table = Table(title="Which variant serves which round", title_justify="left")
    for heading in ("kernel", "decode rounds of", "prompt chunks of", "variant"):
        table.add_column(heading)
    for grid in report.grids:
        by_kind = [rows_of(grid, kind) for kind in ("decode", "prompt")]
        for number, cell in enumerate(grid.cells):
            rows = [show_rows(by_cell.get(number, ())) for by_cell in by_kind]
            table.add_row(grid.function if number == 0 else "", *rows, Text(cell_text(report, cell), "bold red" if cell.missing else ""))
        for got in grid.outside:
            table.add_row(grid.function if not grid.cells else "", "calls over domains", "", f"{report.need_texts[got.need]}: {got.kind}")
    return table


def entry_table(report: Report) -> Table:
    """A row for each entry of the set."""
    table = Table(title=f"{counted(len(report.entries), 'entry')} of {report.set}, digest {report.digest[:12]}", title_justify="left")
    numbers = ("needs", "bytes", "registers", "local", "shared")
    for heading in ("kernel", "serves", "options", *numbers, "hash"):
        table.add_column(heading, justify="right" if heading in numbers else "left")
    for entry in report.entries:
        serves = " ".join(filter(None, (entry.hints, entry.constants, "(alias)" if entry.alias else "")))
        counts = [entry.bytes, entry.registers, entry.local_bytes, entry.shared_bytes]
        shown = ["" if count is None else f"{count:,}" for count in counts]
        table.add_row(entry.function, serves, entry.options, str(entry.needs), *shown, entry.hash[:12])
    return table


def lines(report: Report) -> Iterator[str]:
    """What follows the tables."""
    if report.limits:
        yield f"{counted(len(report.needs), 'need')}: {report.missing} missing, {report.general} served by more general code alone"
    yield from report.notes
    yield from report.changes
