"""`build-capture declarations`."""

from __future__ import annotations

from pathlib import Path

import click

from build_capture.commands.shared import output_console, print_json


@click.command("declarations")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--profile", type=click.Path(path_type=Path), help="The profile that gives domains. Default: none, so that the table shows what has to be given.")
@click.option("--zig", help="The Zig compiler. Default: zig on PATH, else the ziglang package.")
@click.option("--reader", help="A build-capture-reader that this Zig compiled. Default: found or compiled.")
@click.option("--cache-dir", "cache", type=click.Path(path_type=Path), help="Default: .zig-cache/build-capture by the file.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def declarations_command(file: Path, profile: Path | None, zig: str | None, reader: str | None, cache: Path | None, as_json: bool) -> None:
    """List the launches of a declaration file, each with its line, and what each parameter of its methods ranges over."""
    from build_capture.plan.list_declarations import list_declarations
    from build_capture.plan.show import declarations_table, domain_tables

    document = list_declarations(file, profile, zig, reader, cache)
    if as_json:
        print_json(document)
        return
    console = output_console()
    console.print(declarations_table(document))
    for table in domain_tables(document.domains, profile.name if profile else None):
        console.print(table)
