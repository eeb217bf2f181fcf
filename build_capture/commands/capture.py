"""`build-capture capture`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from rich.console import Console

from build_capture.commands.shared import output_console, planning_options, print_json


@click.command("capture")
@planning_options
@click.option("--mode", type=click.Choice(["compile"]), default="compile", help="compile: for a target that need not be present.")
@click.option("--jobs", type=click.IntRange(0, 1024), default=0, help="Compiles at a time; 0: one for each processor.  [default: 0]")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The set's folder: new, empty, or an earlier set.")
@click.option("--depfile", type=click.Path(path_type=Path), help="Write the files that were read, for a build system.")
@click.option(
    "--depfile-target",
    type=click.Path(path_type=Path),
    help="The output that the depfile is for, as Make, Ninja and CMake read it. Default: the set's folder, as Zig reads it.",
)
def capture_command(mode: str, jobs: int, out: Path, depfile: Path | None, depfile_target: Path | None, as_json: bool, **planning: Any) -> None:
    """Capture every variant that a round within the limits can launch."""
    from build_capture.capture.run import Request, capture
    from build_capture.terminal import compile_progress, summary_line, summary_table

    assert mode == "compile", "click admits no other mode"
    with compile_progress(Console(stderr=True)) as progress:
        summary = capture(Request(**planning), out, depfile=depfile, depfile_target=depfile_target, jobs=jobs or None, progress=progress)
    if as_json:
        print_json(summary)
        return
    console = output_console()
    console.print(summary_table(summary))
    console.print(summary_line(summary), soft_wrap=True)
