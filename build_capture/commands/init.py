"""`build-capture init`."""

from __future__ import annotations

from pathlib import Path

import click

from build_capture.commands.shared import print_json


@click.command("init")
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
    from build_capture.words import counted

    started = init(folder, declarations, kernels, parse_target(target).name, zig, reader, cache)
    if as_json:
        print_json(started)
        return
    click.echo(f"{started.declarations}: {counted(started.launches, 'launch')}; kernels in {started.kernels or '(not found)'}")
    click.echo(f"capture.zon: {'written' if started.wrote_profile else 'was there, and stays as it is'}")
    click.echo(f"build.zig: {'the fragment is at its end' if started.wrote_fragment else 'had the fragment already'}")
    click.echo("Next:")
    for number, step in enumerate(started.next, 1):
        click.echo(f"  {number}. {step}")
