"""`build-capture check`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from build_capture.commands.shared import output_console, planning_options, print_json
from build_capture.errors import Exit


@click.command("check")
@click.argument("folder", metavar="SET", type=click.Path(path_type=Path))
@planning_options
@click.option("--policy", "rule", type=click.Choice(["exact", "pinned", "fallback"]), default="exact", show_default=True, help="The rule by which engines match launches.")
@click.option("--declarations", type=click.Path(path_type=Path), help="Without a profile: only whether each launch of this file has entries of its function and arguments.")
def check_command(folder: Path, rule: Any, declarations: Path | None, as_json: bool, **planning: Any) -> None:
    """Check that SET covers every launch of every round within the limits, and open each of its cubins.

    SET is its folder, its aot.json, or the prefix where it is installed; another tool may have written it. Exit 3: a launch
    has no entry, or several that differ in what it does not tell; or a cubin is not what the set says of it.
    """
    from build_capture.pipeline.plan import Request
    from build_capture.sets.check_request import check
    from build_capture.sets.check_show import findings_table, summary_lines

    checked = check(folder, rule, declarations, Request(**planning))
    if as_json:
        print_json({"covered": checked.covered, "checked": checked})
    else:
        console = output_console()
        if checked.findings:
            console.print(findings_table(checked))
        for line in summary_lines(checked):
            console.print(line, soft_wrap=True)
    if not checked.covered:
        click.get_current_context().exit(Exit.NOT_COVERED)
