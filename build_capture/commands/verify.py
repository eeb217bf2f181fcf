"""`build-capture verify`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from build_capture.commands.shared import print_json
from build_capture.words import counted

if TYPE_CHECKING:
    from build_capture.package.verify import Verified


@click.command("verify")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--target", help="The GPU that must be served, such as sm_121.")
@click.option("--digest", help="The digest that the set must have, or its first 12 digits or more.")
@click.option("--sources", type=click.Path(path_type=Path), metavar="PROFILE", help="A profile: compare its sources with those the set was captured from.")
@click.option("--zig", help="With --sources, the Zig compiler. Default: zig on PATH, else the ziglang package.")
@click.option("--reader", help="With --sources, a build-capture-reader that this Zig compiled. Default: found or compiled.")
@click.option("--cache-dir", "cache", type=click.Path(path_type=Path), help="With --sources. Default: .zig-cache/build-capture by the profile.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def verify_command(path: Path, target: str | None, digest: str | None, as_json: bool, sources: Path | None, **tools: Any) -> None:
    """Verify a set's folder, an archive (.tar.zst), a wheel, a .deb, or a prefix where sets are installed.

    Every file must be there and unchanged, no other, and each cubin what aot.json says of it. Needs no GPU and no Triton;
    writes nothing but a temporary folder. Exit 3: damaged, or not what was asked for.
    """
    from build_capture.package.verify import verify
    from build_capture.capture.gpu.device import resolve_target

    verified = verify(path, target=None if target is None else resolve_target(target), digest=None if digest is None else digest.lower())
    compared = _compare(verified, sources, **tools) if sources else None
    if as_json:
        print_json({"verified": verified, "sources": compared})
        return
    for one in verified.sets:
        manifest = "as its manifest says" if one.packaged else "without a manifest"
        click.echo(f"{one.folder}: {one.target}, {counted(one.entries, 'entry')}, {counted(one.cubins, 'cubin')}, {one.bytes:,} bytes, {manifest}")
        click.echo(f"digest {one.digest}")
        for note in one.notes:
            click.echo(f"note: {note}", err=True)
    if compared is not None:
        click.echo(f"{compared} source files are those that it was captured from")


def _compare(verified: Verified, profile: Path, *, zig: str | None, reader: str | None, cache: Path | None) -> int:
    """How many source files were compared, and found to be those that the sets were captured from."""
    from build_capture.package.sources import check_sources
    from build_capture.zig import cache_of, find_reader, find_zig

    found = find_reader(reader, find_zig(zig), cache_of(profile.parent, cache))
    return check_sources(verified.sets, profile, found)
