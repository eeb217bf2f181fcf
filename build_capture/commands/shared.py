"""What the commands share: options, and how results are printed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click
import msgspec
from rich.console import Console

from build_capture.read.profile import DEFAULT_PROFILE, LIMITS_MAX

PIPE_WIDTH = 160
"""Columns of a table that goes to a file or a pipe."""


class OutFolder(click.Path):
    """A folder to write. An empty name, as of a variable that is not set, would be the folder at hand."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path."""
        if value == "":
            self.fail("it is empty; expected the name of a folder", param, ctx)
        return super().convert(value, param, ctx)


def planning_options(command: Any) -> Any:
    """The options of every command that works out needs."""
    options = (
        click.option("--profile", type=click.Path(path_type=Path), default=DEFAULT_PROFILE, show_default=True, help="The profile."),
        click.option("--parallel", type=click.IntRange(1, LIMITS_MAX["parallel"]), help="Streams that a round may hold. Default: the profile's."),
        click.option("--window-rows", type=click.IntRange(1, LIMITS_MAX["window_rows"]), help="Rows of a stream's window. Default: the profile's."),
        click.option("--target", help="The GPU, such as sm_121, or native for the one at hand. Default: the profile's."),
        click.option("--ptxas", type=click.Path(path_type=Path), help="Assemble with this ptxas in place of the one that Triton brings."),
        click.option("--zig", help="The Zig compiler. Default: zig on PATH, else the ziglang package."),
        click.option("--reader", help="A build-capture-reader that this Zig compiled. Default: found or compiled."),
        click.option("--cache-dir", "cache", type=click.Path(path_type=Path), help="Default: .zig-cache/build-capture by the profile."),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def output_console() -> Console:
    """Standard output for tables: as wide as the terminal, or wide enough where there is none. Names and paths are shown as
    they are, whatever brackets they hold."""
    console = Console(markup=False)
    return console if console.is_terminal else Console(width=PIPE_WIDTH, markup=False)


def print_json(record: Any) -> None:
    """One JSON object on standard output. Of a file name that is no UTF-8, escapes stand for its bytes, as Python reads them."""
    try:
        text = msgspec.json.format(msgspec.json.encode(record), indent=2)
    except UnicodeEncodeError:
        text = json.dumps(msgspec.to_builtins(record), indent=2).encode()
    sys.stdout.buffer.write(text + b"\n")
    sys.stdout.flush()
