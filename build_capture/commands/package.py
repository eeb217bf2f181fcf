"""`build-capture package`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from build_capture.commands.shared import OutFolder, print_json
from build_capture.words import counted

FORMATS = ("tar.zst", "wheel", "deb")


@click.command("package")
@click.argument("sets", nargs=-1, required=True, metavar="SET...", type=click.Path(path_type=Path))
@click.option("--out", type=OutFolder(), required=True, help="Where the packages go.")
@click.option("--app", help="Whose engine loads them: they install to share/<app>/cuda. Default: the family that the sets record.")
@click.option("--format", "formats", type=click.Choice([*FORMATS, "all"]), multiple=True, help="What to make; may be repeated. Default: all.")
@click.option("--release", default="0", show_default=True, help="The packages' version; the digest is added to it.")
@click.option("--license", "licence", type=click.Path(path_type=Path), help="The file with the licence of the kernels.")
@click.option("--maintainer", help="Of the .deb: 'Name <address>'.")
@click.option("--section", default="misc", show_default=True, help="Of the .deb.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def package_command(formats: tuple[str, ...], maintainer: str | None, as_json: bool, **given: Any) -> None:
    """Verify sets and put them into packages, one set for each target.

    The packages hold share/<app>/cuda/sm<NN>/ with the set, a manifest, a README and the licence. The same sets give
    the same bytes.
    """
    from build_capture.package.make import UNKNOWN_MAINTAINER, PackageRequest, package

    chosen = FORMATS if not formats or "all" in formats else tuple(name for name in FORMATS if name in formats)
    packaged = package(PackageRequest(formats=chosen, maintainer=maintainer or UNKNOWN_MAINTAINER, **given))
    if as_json:
        print_json(packaged)
        return
    for one in packaged.sets:
        click.echo(f"{packaged.app} {one.target}: {counted(one.entries, 'entry')}, {counted(one.cubins, 'cubin')}, {one.bytes:,} bytes, digest {one.digest}")
    for file in packaged.files:
        click.echo(file)
    if given["licence"] is None:
        click.echo("no licence was named; the packages say so (--license FILE)", err=True)
