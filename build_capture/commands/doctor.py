"""`build-capture doctor`."""

from __future__ import annotations

import os
from pathlib import Path

import click

from build_capture.commands.shared import output_console, print_json


@click.command("doctor")
@click.option("--target", default="sm_121", show_default=True, help="What a capture has to work for.")
@click.option("--zig", help="The Zig compiler. Default: zig on PATH, else the ziglang package.")
@click.option("--cache-dir", "cache", type=click.Path(path_type=Path), default=Path(".zig-cache/build-capture"), show_default=True, help="The capture's cache.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def doctor_command(target: str, zig: str | None, cache: Path, as_json: bool) -> None:
    """Show what is on this machine: Zig, Python, Triton, assemblers, GPU, folders, and variables.

    Every assembler is tried for every target. Exit 4 where a capture for the target cannot work, with what helps.
    """
    from build_capture.doctor.diagnose import diagnose
    from build_capture.doctor.show import lines, tables
    from build_capture.errors import CaptureError, Exit, raise_all
    from build_capture.capture.gpu.device import resolve_target

    found = diagnose(resolve_target(target), zig, cache, os.environ)
    if as_json:
        print_json(found)
    else:
        console = output_console()
        for table in tables(found):
            console.print(table)
        for line in lines(found, os.environ):
            console.print(line, soft_wrap=True)
    raise_all([CaptureError(mend, code=Exit.TOOL) for mend in found.mends])
