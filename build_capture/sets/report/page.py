"""The report as one page of HTML that needs nothing else: no network, no other file."""

from __future__ import annotations

from typing import Any

import jinja2

from build_capture.sets.limits import show_limits
from build_capture.sets.report.data import Report
from build_capture.sets.report.grid import FunctionGrid, rows_of
from build_capture.sets.report.picture import LANE, PATTERN, WIDTH, cell_text, colour_of, lanes_of, rows_most, strip
from build_capture.sets.row_ranges import show_rows
from build_capture.words import counted

KINDS = {"decode": "decode rounds", "prompt": "prompt chunks"}


def page(report: Report) -> str:
    """The page's text."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("build_capture.sets.report", "."),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    functions = [_function(report, grid) for grid in report.grids]
    words = {"counted": counted, "show_limits": show_limits}
    return environment.get_template("page.html").render(report=report, functions=functions, pattern=PATTERN, width=WIDTH, lane=LANE, **words) + "\n"


def _function(report: Report, grid: FunctionGrid) -> dict[str, Any]:
    """What the template shows of one function."""
    strips = []
    for kind, title in KINDS.items():
        lanes, rows = lanes_of(grid, kind), rows_most(report, kind)
        if lanes:
            strips.append({"kind": kind, "title": title, "lanes": len(lanes), "rows": rows, "shapes": strip(grid, kind, rows), "ticks": _ticks(rows)})
    rows_by_kind = {kind: rows_of(grid, kind) for kind in KINDS}
    legend = [
        {
            "colour": colour_of(grid, number),
            "text": cell_text(report, cell),
            "missing": cell.missing,
            "rows": {KINDS[kind]: show_rows(rows[number]) for kind, rows in rows_by_kind.items() if number in rows},
        }
        for number, cell in enumerate(grid.cells)
    ]
    outside = [f"{report.need_texts[got.need]}: {got.kind}" for got in grid.outside]
    return {
        "name": grid.function,
        "strips": strips,
        "legend": legend,
        "outside": outside,
        "missing": any(entry["missing"] for entry in legend) or any(got.kind in ("missing", "ambiguous") for got in grid.outside),
    }


def _ticks(rows: int) -> list[int]:
    return sorted({1, *(rows * part // 4 for part in (1, 2, 3)), rows} - {0})
