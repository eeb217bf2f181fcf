"""What a person sees: progress while work goes on, and tables at its end."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from build_capture import steps, zig_progress
from build_capture.capture import graph
from build_capture.pipeline.summary import Summary
from build_capture.words import counted


@contextlib.contextmanager
def compile_progress(console: Console) -> Iterator[graph.Progress]:
    """Zig's own display inside `zig build`, a bar on a terminal, else a line for each compile that ends, on standard error.

    The steps before and between the compiles are shown there, too.
    """
    pipe = zig_progress.take_pipe()
    if pipe is not None:
        with steps.shown_by(_at_start(lambda what: zig_progress.send(pipe, 0, 0, what))):
            yield lambda done, total, title: zig_progress.send(pipe, done, total, title)
        return
    if not console.is_terminal:
        yield lambda done, total, title: print(f"[{done}/{total}] {title}", file=sys.stderr, flush=True)
        return
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None)
        with steps.shown_by(_at_start(lambda what: bar.update(task, description=what))):
            yield lambda done, total, title: bar.update(task, completed=done, total=total, description=title)


def _at_start(tell: Callable[[str], None]) -> steps.Show:
    """Tell each step when it begins; the next one takes its place."""

    def show(what: str) -> contextlib.AbstractContextManager[None]:
        tell(what)
        return contextlib.nullcontext()

    return show


def summary_table(summary: Summary) -> Table:
    """Kernels, needs, variants, aliases, cubins, bytes and seconds of a capture."""
    table = Table(title=f"{summary.family} for {summary.target}", title_justify="left", show_footer=True)
    table.add_column("kernel", footer="all")
    totals = (
        ("needs", summary.needs),
        ("variants", summary.variants),
        ("aliases", summary.policy.aliases),
        ("cubins", summary.cubins),
        ("bytes", sum(kernel.bytes for kernel in summary.kernels)),
        ("seconds", f"{sum(kernel.seconds for kernel in summary.kernels):.1f}"),
    )
    for heading, total in totals:
        table.add_column(heading, justify="right", footer=f"{total:,}" if isinstance(total, int) else total)
    for kernel in summary.kernels:
        counts = (kernel.needs, kernel.variants, kernel.aliases, kernel.cubins, kernel.bytes)
        table.add_row(kernel.function, *(f"{count:,}" for count in counts), f"{kernel.seconds:.1f}")
    return table


def summary_line(summary: Summary) -> str:
    """The capture in one sentence."""
    return (
        f"{counted(summary.needs, 'need')} of {counted(summary.launches, 'launch')} in {counted(summary.rounds, 'round')}: "
        f"{summary.compiled} compiled, {summary.reused} reused, {summary.bytes:,} bytes, {summary.wall_seconds:.1f} s"
    )
