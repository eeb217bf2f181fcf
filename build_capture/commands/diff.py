"""`build-capture diff`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from build_capture.commands.shared import output_console, print_json
from build_capture.errors import Exit

if TYPE_CHECKING:
    from build_capture.sets.diff import SetDiff


@click.command("diff")
@click.argument("first", type=click.Path(path_type=Path))
@click.argument("second", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def diff_command(context: click.Context, first: Path, second: Path, as_json: bool) -> None:
    """Tell what differs from the set FIRST to the set SECOND: entries, cubins, tools and sources. Exit 0: nothing; 3: something."""
    from build_capture.sets.diff import compare
    from build_capture.sets.read import read_set

    found = compare(read_set(first), read_set(second))
    if as_json:
        print_json(found)
    else:
        for note in found.notes:
            click.echo(f"note: {note}", err=True)
        _print(found)
    context.exit(Exit.NOT_COVERED if found.differs else Exit.GOOD)


def _print(found: SetDiff) -> None:
    from rich.table import Table

    from build_capture.sets.diff import show

    console = output_console()
    table = Table(show_header=True, title_justify="left")
    for heading in ("", "what", "first", "second"):
        table.add_column(heading, overflow="fold")
    rows = [("set", change.name, show(change.before), show(change.after)) for change in found.facts]
    rows += [("removed", identity, "", "") for identity in found.removed]
    rows += [("added", identity, "", "") for identity in found.added]
    for entry in found.changed:
        rows.append(("changed", entry.identity, "", ""))
        rows += [("", f"  {change.name}", show(change.before), show(change.after)) for change in entry.fields]
    for kind, *texts in rows:
        table.add_row(kind, *map(_plain, texts))
    if rows:
        console.print(table)
    console.print(
        f"{len(found.added)} entries added, {len(found.removed)} removed, {len(found.changed)} changed, {found.same} the same; "
        f"cubins {found.bytes.before:,} bytes, then {found.bytes.after:,}",
        soft_wrap=True,
        markup=False,
    )


def _plain(text: str) -> str:
    """A text of which nothing is taken for markup."""
    from rich.markup import escape

    return escape(text)
