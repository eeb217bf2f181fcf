"""`build-capture capture`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from build_capture.commands.shared import OutFolder, output_console, planning_options, print_json

if TYPE_CHECKING:
    from build_capture.read.profile import Policy


@click.command("capture")
@planning_options
@click.option(
    "--mode",
    "asked_mode",
    type=click.Choice(["compile", "gpu", "auto"]),
    default="compile",
    show_default=True,
    help="compile: for a target that need not be present; gpu: also launch every need on the GPU at hand and check its numbers; auto: gpu where that can be.",
)
@click.option(
    "--policy",
    type=click.Choice(["exact", "compact", "total"]),
    help="exact: what Triton itself would pick; compact: one cubin where hints buy no wider memory access; total: exact, then generic code "
    "for every value. Default: the profile's, else exact.",
)
@click.option(
    "--values",
    type=click.Path(path_type=Path),
    help="Write what the launches of mode gpu take and give to this folder, so that another program can repeat them.",
)
@click.option("--jobs", type=click.IntRange(0, 1024), default=0, help="Compiles at a time; 0: one for each processor.  [default: 0]")
@click.option("--out", type=OutFolder(), required=True, help="The set's folder: new, empty, or an earlier set.")
@click.option("--depfile", type=click.Path(path_type=Path), help="Write the files that were read, for a build system.")
@click.option(
    "--depfile-target",
    type=click.Path(path_type=Path),
    help="The output that the depfile is for, as Make, Ninja and CMake read it. Default: the set's folder, as Zig reads it.",
)
def capture_command(
    asked_mode: str,
    policy: Policy | None,
    values: Path | None,
    jobs: int,
    out: Path,
    depfile: Path | None,
    depfile_target: Path | None,
    as_json: bool,
    **planning: Any,
) -> None:
    """Capture every variant that a round within the limits can launch."""
    from build_capture.capture.gpu.show import launches_line, launches_table, mode_line
    from build_capture.capture.policy.cost import cost_lines
    from build_capture.pipeline.capture import capture
    from build_capture.pipeline.plan import Request
    from build_capture.terminal import compile_progress, summary_line, summary_table

    if values is not None and asked_mode == "compile":
        raise click.UsageError("--values needs --mode gpu: nothing is launched without a GPU")
    with compile_progress(Console(stderr=True)) as progress:
        summary = capture(
            Request(**planning),
            out,
            depfile=depfile,
            depfile_target=depfile_target,
            jobs=jobs or None,
            progress=progress,
            asked_mode=asked_mode,
            values=values,
            policy=policy,
        )
    if as_json:
        if summary.mode_reason:
            click.echo(mode_line(summary), err=True)
        print_json(summary)
        return
    console = output_console()
    console.print(summary_table(summary))
    console.print(summary_line(summary), soft_wrap=True)
    for line in cost_lines(summary.policy, summary.launches):
        console.print(line, soft_wrap=True)
    if summary.gpu is not None:
        console.print(launches_table(summary.gpu))
        console.print(launches_line(summary.gpu), soft_wrap=True)
    if summary.mode_reason:
        console.print(mode_line(summary), soft_wrap=True)
