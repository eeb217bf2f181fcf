"""`build-capture merge`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from build_capture.commands.shared import OutFolder, output_console, print_json
from build_capture.words import counted

if TYPE_CHECKING:
    from build_capture.sets.merge import Conflict, Resolved


class MergeSummary(msgspec.Struct, frozen=True):
    """What `merge` did."""

    set: str
    target: str
    entries: int
    aliases: int
    cubins: int
    bytes: int
    duplicates: int
    resolved: list[Resolved]
    notes: list[str]
    """What is to be known of the sets that went in, each with its name."""


@click.command("merge")
@click.argument("sets", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", type=OutFolder(), required=True, help="The merged set's folder; it may be one of the sets.")
@click.option(
    "--conflict",
    type=click.Choice(["error", "first", "newest"]),
    default="error",
    show_default=True,
    help="Where two sets have other code for one specialization: fail, keep that of the set named first, or of the one named last.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def merge_command(sets: tuple[Path, ...], out: Path, conflict: Conflict, as_json: bool) -> None:
    """Merge SETS into one: every specialization of each, once. Each SET is a folder, its aot.json, or a prefix where it is installed."""
    from build_capture.sets.merge import merge
    from build_capture.sets.pack import write_set
    from build_capture.sets.read import read_set

    read = [(str(path), read_set(path)) for path in sets]
    merged = merge(read, conflict)
    # Everything is in memory now, so that `out` may be one of the sets.
    written = write_set(merged.captured, merged.cubins, out)
    kernels = merged.captured.kernels
    summary = MergeSummary(
        set=str(out),
        target=merged.captured.target,
        entries=len(kernels),
        aliases=sum(kernel.alias for kernel in kernels),
        cubins=len(merged.cubins),
        bytes=written,
        duplicates=merged.duplicates,
        resolved=merged.resolved,
        notes=[f"{name}: {note}" for name, found in read for note in found.notes],
    )
    if as_json:
        print_json(summary)
        return
    for note in summary.notes:
        click.echo(f"note: {note}", err=True)
    console = output_console()
    for each in summary.resolved:
        console.print(f"{each.identity}: kept that of {each.kept}, left that of {each.left} (another {each.differs})", soft_wrap=True)
    console.print(
        f"{counted(len(sets), 'set')} for {summary.target}: {counted(summary.entries, 'entry')} ({counted(summary.aliases, 'alias')}), "
        f"{counted(summary.cubins, 'cubin')}, {summary.bytes:,} bytes; left out, since they were there already: {summary.duplicates:,}",
        soft_wrap=True,
    )
