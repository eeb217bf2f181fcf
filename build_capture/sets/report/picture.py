"""The grid as SVG: the strips of one function, which the page scales to its width, and a picture of all functions."""

from __future__ import annotations

from html import escape

from build_capture.sets.report.data import Report
from build_capture.sets.report.grid import LANES_MAX, Cell, FunctionGrid, Lane, rows_of
from build_capture.sets.row_ranges import show_rows
from build_capture.words import counted

WIDTH = 1000
"""Of a strip: rounds of 1 row to those with the most, in its own units."""

LANE = 6
"""The height of a lane in a strip."""

COLOURS = ("#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#edc948", "#76b7b2", "#9c755f", "#ff9da7", "#2f6f8f", "#bab0ac")
"""Of a function's cells, the most frequent first; more of them begin anew, and the legend tells them apart."""

MISSING, MISSING_STRIPE = "#d00000", "#ffffff"

PATTERN = (
    '<pattern id="missing" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    f'<rect width="8" height="8" fill="{MISSING}"/><rect width="3" height="8" fill="{MISSING_STRIPE}"/></pattern>'
)
"""What a round without a variant is filled with."""


def colour_of(grid: FunctionGrid, cell: int) -> str:
    """What a cell is filled with."""
    return "url(#missing)" if grid.cells[cell].missing else COLOURS[cell % len(COLOURS)]


def lanes_of(grid: FunctionGrid, kind: str) -> list[Lane]:
    """The lanes of a strip; where there are too many to tell apart, as many as there is room for, evenly spread."""
    lanes = [lane for lane in grid.lanes if lane.kind == kind]
    if len(lanes) <= LANES_MAX:
        return lanes
    return [lanes[number * (len(lanes) - 1) // (LANES_MAX - 1)] for number in range(LANES_MAX)]


def rows_most(report: Report, kind: str) -> int:
    """The rows of the largest round of a kind; 0 where there is none."""
    return max((run.last for grid in report.grids for lane in grid.lanes if lane.kind == kind for run in lane.runs), default=0)


def strip(grid: FunctionGrid, kind: str, rows: int) -> str:
    """The shapes of a function's strip, a group for each lane, in a box of WIDTH by LANE times the lanes."""
    groups = []
    for place, lane in enumerate(lanes_of(grid, kind)):
        paths: dict[int, list[str]] = {}
        for run in lane.runs:
            left, right = ((edge * WIDTH / rows) for edge in (run.first - 1, run.last))
            paths.setdefault(run.cell, []).append(f"M{left:.6g} {place * LANE}h{right - left:.6g}v{LANE}h{left - right:.6g}z")
        shapes = "".join(f'<path fill="{colour_of(grid, cell)}" d="{"".join(path)}"/>' for cell, path in sorted(paths.items()))
        groups.append(f'<g data-streams="{lane.streams}" data-place="{place}">{shapes}</g>')
    return "".join(groups)


def cell_text(report: Report, cell: Cell) -> str:
    """What a cell stands for: the entries that serve it, and what is missing."""
    parts = [_entry_text(report, number) for number in cell.entries]
    parts += [f"{served.kind.upper()}: {report.need_texts[served.need]}" for served in cell.served if served.kind in ("missing", "ambiguous")]
    parts += [f"fallback for {report.need_texts[served.need]}" for served in cell.served if served.kind == "fallback"]
    return " + ".join(parts)


def _entry_text(report: Report, number: int) -> str:
    entry = report.entries[number]
    details = " ".join(filter(None, (entry.hints, entry.constants, "alias" if entry.alias else "")))
    return f"{details} ({entry.hash[:8]})"


_LABELS, _LINE, _GAP, _MARGIN = 150, 16, 18, 16


def picture(report: Report) -> str:
    """All functions in one SVG: kernels down, the rows of a round across, a lane for each number of streams from the top, light and dark."""
    parts: list[str] = []
    rows = rows_most(report, "decode")
    top = _MARGIN + 2 * _LINE
    for grid in report.grids:
        lanes = lanes_of(grid, "decode")
        height = len(lanes) * LANE
        if not lanes:
            continue
        parts.append(f'<text x="{_MARGIN}" y="{top + 12}" class="name">{escape(grid.function)}</text>')
        parts.append(f'<g transform="translate({_LABELS} {top})">{strip(grid, "decode", rows)}</g>')
        parts.append(f'<rect x="{_LABELS}" y="{top}" width="{WIDTH}" height="{height}" class="frame"/>')
        top += height + 4
        for number, ranges in rows_of(grid, "decode").items():
            cell = grid.cells[number]
            text = escape(f"{show_rows(ranges)}: {cell_text(report, cell)}")
            parts.append(f'<rect x="{_LABELS}" y="{top}" width="12" height="12" fill="{colour_of(grid, number)}"/>')
            parts.append(f'<text x="{_LABELS + 18}" y="{top + 11}"{_missing_class(cell)}>{text}</text>')
            top += _LINE
        top += _GAP
    limits = report.limits
    title = f"{report.family or report.set} for {report.target}: which variant serves rounds of 1..{rows} rows"
    lanes_text = f"a lane for each number of streams, 1 at the top, {limits.parallel} at the bottom; " if limits else ""
    subtitle = f"{lanes_text}set {report.digest[:12]}; {counted(report.missing, 'need')} missing"
    style = (
        "text{font:12px system-ui,sans-serif;fill:#1b1b1b}.name{font-weight:600}.title{font-size:16px;font-weight:600}"
        ".missing{fill:#d00000;font-weight:600}.frame{fill:none;stroke:#888}.back{fill:#fff}"
        "@media(prefers-color-scheme:dark){text{fill:#e8e8e8}.missing{fill:#ff6b6b}.back{fill:#16181c}}"
    )
    width = _LABELS + WIDTH + _MARGIN
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {top}" width="{width}" height="{top}" role="img">'
        f"<title>{escape(title)}</title><style>{style}</style><defs>{PATTERN}</defs>"
        f'<rect width="{width}" height="{top}" class="back"/>'
        f'<text x="{_MARGIN}" y="{_MARGIN + 6}" class="title">{escape(title)}</text>'
        f'<text x="{_MARGIN}" y="{_MARGIN + 24}">{escape(subtitle)}</text>'
    )
    return head + "".join(parts) + "</svg>\n"


def _missing_class(cell: Cell) -> str:
    return ' class="missing"' if cell.missing else ""
