"""`build-capture diff`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from build_capture.commands.shared import output_console, print_json
from build_capture.errors import Exit
from build_capture.words import counted

if TYPE_CHECKING:
    from build_capture.sets.diff import SetDiff
    from build_capture.sets.model import SetKernel


@click.command("diff")
@click.argument("first", type=click.Path(path_type=Path))
@click.argument("second", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def diff_command(context: click.Context, first: Path, second: Path, as_json: bool) -> None:
    """Tell what differs from the set FIRST to the set SECOND: entries, cubins, tools and sources. Exit 0: nothing; 3: something."""
    from build_capture.sets.diff import compare
    from build_capture.sets.read import read_set

    sets = (read_set(first), read_set(second))
    found = compare(*sets)
    if as_json:
        print_json(found)
    else:
        for note in found.notes:
            click.echo(f"note: {note}", err=True)
        _print(found, _labels([kernel for each in sets for kernel in each.captured.kernels]))
    context.exit(Exit.NOT_COVERED if found.differs else Exit.GOOD)


def _labels(kernels: list[SetKernel]) -> dict[str, str]:
    """A short text for each identity: what is odd in it, and the constexprs in which its function's entries differ.

    Where that tells two of them not apart, the whole identity.
    """
    from build_capture.sets.apart import tell_apart

    labels: dict[str, str] = {}
    for kernel, apart in zip(kernels, tell_apart(kernels), strict=True):
        constants = (f"{name}={value}" for name, value in apart.constants.items())
        options = f"(warps {kernel.requested['num_warps']}, stages {kernel.requested['num_stages']})"
        labels[kernel.identity] = " ".join([kernel.fn, apart.hints, *constants, options])
    times = Counter(labels.values())
    return {identity: text if times[text] == 1 else identity for identity, text in labels.items()}


def _print(found: SetDiff, labels: dict[str, str]) -> None:
    from rich.table import Table

    console = output_console()
    table = Table(show_header=True, title_justify="left")
    for heading in ("", "what", "first", "second"):
        table.add_column(heading, overflow="fold")
    rows = [("set", change.name, *change.shown) for change in found.facts]
    rows += [("removed", labels[identity], "", "") for identity in found.removed]
    rows += [("added", labels[identity], "", "") for identity in found.added]
    for entry in found.changed:
        rows.append(("changed", labels[entry.identity], "", ""))
        rows += [("", f"  {change.name}", *change.shown) for change in entry.fields]
    for kind, *texts in rows:
        table.add_row(kind, *texts)
    if rows:
        console.print(table)
    console.print(
        f"{counted(len(found.added), 'entry')} added, {len(found.removed)} removed, {len(found.changed)} changed, {found.same} the same; "
        f"cubins {found.bytes.before:,} bytes, then {found.bytes.after:,}",
        soft_wrap=True,
    )
