"""The command line: it parses, calls one function, and turns errors into an exit code."""

from __future__ import annotations

import importlib
import io
import os
import sys
from typing import Any, TextIO

import click

from build_capture import __version__
from build_capture.entry import COMMAND_MODULES, lacking
from build_capture.errors import CaptureError, Exit
from build_capture.steps import on_standard_error, shown_by
from build_capture.zig import PACKAGE

COMMANDS = ("capture", "check", "declarations", "diff", "doctor", "explain", "init", "merge", "needs", "package", "report", "verify")
"""Each is `<name>_command` in `build_capture.commands.<name>`, imported when it is asked for."""


class Commands(click.Group):
    """The commands by name."""

    def list_commands(self, context: click.Context) -> list[str]:
        """All names, in the order in which help shows them."""
        return sorted(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """The command of that name, or None."""
        if name not in COMMANDS:
            return None
        command: click.Command = getattr(importlib.import_module(f"build_capture.commands.{name}"), f"{name}_command")
        return command


def _show_cmake_folder(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        click.echo(next(folder for folder in (PACKAGE / "cmake", PACKAGE.parent / "cmake") if folder.is_dir()))
        context.exit()


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(__version__, prog_name="build-capture")
@click.option(
    "--cmake-dir",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_cmake_folder,
    help="Show the folder for CMake's TritonCapture_DIR and exit.",
)
def cli() -> None:
    """Make a Zig serving engine's captured Triton kernels complete.

    Exit codes: 0 good; 1 a fault of build-capture; 2 bad input or usage; 3 not covered, or different; 4 a tool is
    missing or too old; 5 a kernel does not compile, or its numbers are wrong.
    """


class _OutlivingFile(io.FileIO):
    """A file whose reader may stop early, as `head` does: what is written after that goes nowhere, and the exit code is still
    the answer."""

    def write(self, data: Any) -> int:
        """Write what the reader takes."""
        try:
            return super().write(data)
        except OSError as error:
            # Also what is still to be flushed goes nowhere.
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())
            if not isinstance(error, BrokenPipeError):
                raise
            return super().write(data)


def _outliving(stream: TextIO) -> TextIO:
    """A standard stream as an `_OutlivingFile`."""
    raw = _OutlivingFile(stream.fileno(), "w", closefd=False)
    return io.TextIOWrapper(io.BufferedWriter(raw), stream.encoding, stream.errors, line_buffering=stream.line_buffering)


def run() -> int:
    """Run the command line; returns the exit code. Expected failures print their message, others keep their traceback."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # As on standard error: a file name that is no text, or a letter that the terminal does not have, ends no command.
        sys.stdout.reconfigure(errors="backslashreplace")
    for name in ("stdout", "stderr"):
        if (stream := getattr(sys, name)) is not None and stream is getattr(sys, f"__{name}__"):
            setattr(sys, name, _outliving(stream))
    try:
        # A command that leaves early, such as with `--help`, gives its exit code here.
        with shown_by(on_standard_error()):
            code = cli.main(standalone_mode=False)
    except CaptureError as error:
        click.echo(str(error), err=True)
        return error.code
    except ModuleNotFoundError as error:
        if error.name not in COMMAND_MODULES:
            raise
        click.echo(f"error: {lacking([COMMAND_MODULES[error.name]])}", err=True)
        return Exit.TOOL
    except OSError as error:
        # What no command looks at before it opens it: a name that is too long, a folder that may not be entered.
        click.echo(f"{error.filename or 'build-capture'}: error: {error.strerror or error}; name another file, or mend what keeps it from being used", err=True)
        return Exit.INPUT
    except click.UsageError as error:
        error.show()
        return Exit.INPUT
    except (click.Abort, KeyboardInterrupt):
        click.echo("error: interrupted", err=True)
        return Exit.OUR_FAULT
    return Exit.GOOD if code is None else int(code)
