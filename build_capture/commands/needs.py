"""`build-capture needs`."""

from __future__ import annotations

from typing import Any

import click

from build_capture.commands.shared import output_console, planning_options, print_json


@click.command("needs")
@planning_options
def needs_command(as_json: bool, **planning: Any) -> None:
    """List every specialization that a round within the limits launches, each with a witness."""
    from build_capture.pipeline.plan import Request, plan
    from build_capture.plan.show import needs_document, needs_table, sources_table

    planned = plan(Request(**planning))
    if as_json:
        print_json(needs_document(planned))
    else:
        console = output_console()
        console.print(needs_table(planned))
        console.print(sources_table(planned))
