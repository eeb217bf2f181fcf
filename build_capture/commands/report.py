"""`build-capture report`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from build_capture.commands.shared import output_console, planning_options, print_json


@click.command("report")
@click.argument("folder", metavar="SET", type=click.Path(path_type=Path))
@planning_options
@click.option("--policy", "rule", type=click.Choice(["exact", "pinned", "fallback"]), default="exact", show_default=True, help="The rule by which engines match launches.")
@click.option("--against", type=click.Path(path_type=Path), help="Another set: what is different in it.")
@click.option("--out", type=click.Path(path_type=Path), help="Write the page, one file of HTML that needs no other.")
@click.option("--svg", type=click.Path(path_type=Path), help="Write the picture of which variant serves which round.")
@click.option("--png", type=click.Path(path_type=Path), help="Write the same as PNG; needs the resvg-py package.")
def report_command(
    folder: Path,
    rule: Any,
    against: Path | None,
    out: Path | None,
    svg: Path | None,
    png: Path | None,
    as_json: bool,
    **planning: Any,
) -> None:
    """Show which variant of SET serves which round, and what each costs.

    Which rounds there are the profile says; without one the entries alone are shown. SET is its folder, its aot.json, or
    the prefix where it is installed.
    """
    from build_capture.pipeline.plan import Request
    from build_capture.sets.report.make import make, write
    from build_capture.sets.report.terminal import entry_table, grid_table, lines

    report = make(folder, rule, against, Request(**planning))
    written = write(report, page=out, svg=svg, png=png)
    if as_json:
        print_json(report)
        return
    console = output_console()
    if report.grids:
        console.print(grid_table(report))
    console.print(entry_table(report))
    for line in [*lines(report), *(f"wrote {path}" for path in written)]:
        console.print(line, soft_wrap=True)
