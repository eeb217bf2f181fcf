"""The command line: it parses, calls one function, and turns errors into an exit code."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
import msgspec
from rich.console import Console

from build_capture import __version__
from build_capture.errors import CaptureError, Exit
from build_capture.read.profile import LIMITS_MAX

PIPE_WIDTH = 160
"""Columns of a table that goes to a file or a pipe."""


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(__version__, prog_name="build-capture")
def cli() -> None:
    """Make a Zig serving engine's captured Triton kernels complete.

    Exit codes: 0 good; 1 a fault of build-capture; 2 bad input or usage; 3 not covered; 4 a tool is missing or too
    old; 5 a kernel does not compile.
    """


def planning_options(command: Any) -> Any:
    """The options of every command that works out needs."""
    options = (
        click.option("--profile", type=click.Path(path_type=Path), default=Path("capture.zon"), show_default=True, help="The profile."),
        click.option("--parallel", type=click.IntRange(1, LIMITS_MAX["parallel"]), help="Streams that a round may hold. Default: the profile's."),
        click.option("--window-rows", type=click.IntRange(1, LIMITS_MAX["window_rows"]), help="Rows of a stream's window. Default: the profile's."),
        click.option("--target", help="What to compile for, such as sm_121. Default: the profile's."),
        click.option("--zig", help="The Zig compiler. Default: zig on PATH, else the ziglang package."),
        click.option("--reader", help="A build-capture-reader that this Zig compiled. Default: found or compiled."),
        click.option("--cache-dir", "cache", type=click.Path(path_type=Path), help="Default: .zig-cache/build-capture by the profile."),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
    )
    for option in reversed(options):
        command = option(command)
    return command


@cli.command("capture")
@planning_options
@click.option("--mode", type=click.Choice(["compile"]), default="compile", help="compile: for a target that need not be present.")
@click.option("--jobs", type=click.IntRange(0, 1024), default=0, help="Compiles at a time; 0: one for each processor.  [default: 0]")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The set's folder: new, empty, or an earlier set.")
@click.option("--depfile", type=click.Path(path_type=Path), help="Write the files that were read, for a build system.")
def capture_command(mode: str, jobs: int, out: Path, depfile: Path | None, as_json: bool, **planning: Any) -> None:
    """Capture every variant that a round within the limits can launch."""
    from build_capture.capture.run import Request, capture
    from build_capture.terminal import compile_progress, summary_line, summary_table

    assert mode == "compile", "click admits no other mode"
    with compile_progress(Console(stderr=True)) as progress:
        summary = capture(Request(**planning), out, depfile=depfile, jobs=jobs or None, progress=progress)
    if as_json:
        print_json(summary)
        return
    console = output_console()
    console.print(summary_table(summary))
    console.print(summary_line(summary), soft_wrap=True)


@cli.command("needs")
@planning_options
def needs_command(as_json: bool, **planning: Any) -> None:
    """List every specialization that a round within the limits launches, each with a witness."""
    from build_capture.capture.run import Request, plan
    from build_capture.plan.show import needs_document, needs_table, sources_table

    planned = plan(Request(**planning))
    if as_json:
        print_json(needs_document(planned))
    else:
        console = output_console()
        console.print(needs_table(planned))
        console.print(sources_table(planned))


@cli.command("declarations")
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


@cli.command("init")
@click.argument("folder", type=click.Path(path_type=Path), default=Path("."))
@click.option("--declarations", type=click.Path(path_type=Path), help="The declaration file. Default: the one that launches kernels.")
@click.option("--kernels", type=click.Path(path_type=Path), help="The folder with the Triton kernels. Default: the one that defines them.")
@click.option("--target", default="sm_121", show_default=True, help="What the profile says to compile for.")
@click.option("--zig", help="The Zig compiler. Default: zig on PATH, else the ziglang package.")
@click.option("--reader", help="A build-capture-reader that this Zig compiled. Default: found or compiled.")
@click.option("--cache-dir", "cache", type=click.Path(path_type=Path), help="Default: .zig-cache/build-capture of the project.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def init_command(
    folder: Path,
    declarations: Path | None,
    kernels: Path | None,
    target: str,
    zig: str | None,
    reader: str | None,
    cache: Path | None,
    as_json: bool,
) -> None:
    """Make the Zig project in FOLDER ready to capture: write capture.zon, extend build.zig, and say what is left to do."""
    from build_capture.start.init import init
    from build_capture.targets import parse_target

    started = init(folder, declarations, kernels, parse_target(target).name, zig, reader, cache)
    if as_json:
        print_json(started)
        return
    click.echo(f"{started.declarations}: {started.launches} launches; kernels in {started.kernels or '(not found)'}")
    click.echo(f"capture.zon: {'written' if started.wrote_profile else 'was there, and stays as it is'}")
    click.echo(f"build.zig: {'the fragment is at its end' if started.wrote_fragment else 'had the fragment already'}")
    click.echo("Next:")
    for number, step in enumerate(started.next, 1):
        click.echo(f"  {number}. {step}")


def output_console() -> Console:
    """Standard output for tables: as wide as the terminal, or wide enough where there is none."""
    console = Console()
    return console if console.is_terminal else Console(width=PIPE_WIDTH)


def print_json(record: Any) -> None:
    """One JSON object on standard output."""
    sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n")
    sys.stdout.flush()


def run() -> int:
    """Run the command line; returns the exit code. Expected failures print their message, others keep their traceback."""
    try:
        cli.main(standalone_mode=False)
    except CaptureError as error:
        click.echo(str(error), err=True)
        return error.code
    except click.UsageError as error:
        error.show()
        return Exit.INPUT
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("error: interrupted", err=True)
        return Exit.OUR_FAULT
    return Exit.GOOD
