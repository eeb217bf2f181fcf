"""A .deb of captured sets, written and read without dpkg, which a build machine need not have."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from build_capture.package.ar import read_ar, write_ar
from build_capture.package.damage import damage
from build_capture.package.names import PackageNames
from build_capture.package.tar import TIME, unpack_tar_zst, write_tar
from build_capture.package.zstd import compress

FORMAT = b"2.0\n"
MEMBERS = ("debian-binary", "control.tar.zst", "data.tar.zst")
"""deb(5), in this order. dpkg reads zstd since Ubuntu 18.04 and Debian 12."""

CONTROL = """Package: {package}
Version: {version}
Architecture: all
Maintainer: {maintainer}
Installed-Size: {kibibytes}
Section: {section}
Priority: optional
Description: {summary}
 Installs to /usr/share/{app}/cuda. Digest: {digest}
"""

_FIELDS = [line.partition(":")[0] for line in CONTROL.splitlines() if not line.startswith(" ")]
"""Others tell dpkg and apt to install, remove or keep something else."""

_CONTROL_FILES = ["control", "md5sums"]
"""No maintainer scripts: they would run as root, and a set needs none."""


def write_deb(names: PackageNames, files: Mapping[str, bytes], *, summary: str, maintainer: str, section: str, licence: bytes) -> bytes:
    """The .deb that installs `files` (by their paths below a prefix) below /usr."""
    installed = {f"usr/{name}": data for name, data in files.items()}
    # Debian policy 12.5.
    installed[f"usr/share/doc/{names.package}/copyright"] = licence
    control = CONTROL.format(
        package=names.package,
        version=names.version,
        maintainer=maintainer,
        section=section,
        summary=summary,
        app=names.app,
        digest=names.digest,
        kibibytes=sum(-(-len(data) // 1024) for data in installed.values()),
    )
    sums = "".join(f"{_md5(data)}  {name}\n" for name, data in sorted(installed.items()))
    about = write_tar({"control": control.encode(), "md5sums": sums.encode()}, "./")
    contents = (FORMAT, compress(about), compress(write_tar(installed, "./")))
    return write_ar(dict(zip(MEMBERS, contents)), TIME)


def unpack_deb(data: bytes, shown: str, folder: Path) -> list[str]:
    """Unpack a .deb below `folder`/data, all of it judged first; returns the paths of its files. `shown` is its name in messages.

    Raises a `CaptureError` where it is not as `write_deb` makes one, or a file is not what md5sums says.
    """
    members = read_ar(data, shown)
    if tuple(members) != MEMBERS or members[MEMBERS[0]] != FORMAT:
        raise damage(f"it holds {', '.join(members) or 'nothing'}; expected {', '.join(MEMBERS)} of format 2.0", shown)
    about, names = (
        unpack_tar_zst(io.BytesIO(members[name]), f"{shown}:{name}", folder / part) for name, part in ((MEMBERS[1], "control"), (MEMBERS[2], "data"))
    )
    if sorted(about) != _CONTROL_FILES:
        raise damage(
            f"it holds {', '.join(sorted(about)) or 'nothing'}; expected {' and '.join(_CONTROL_FILES)}, and nothing that dpkg would run",
            f"{shown}:{MEMBERS[1]}",
        )
    _check_control(_control(folder), f"{shown}:{MEMBERS[1]}/control")
    _check_sums(folder, names, shown)
    return names


def installed_name(folder: Path) -> tuple[str, str]:
    """The name and the version under which a .deb that was unpacked below `folder` is installed."""
    fields = {name: value.strip() for name, _, value in (line.partition(":") for line in _control(folder))}
    return fields["Package"], fields["Version"]


def _control(folder: Path) -> list[str]:
    return (folder / "control/control").read_text(encoding="utf-8", errors="replace").removesuffix("\n").split("\n")


def _check_control(lines: Sequence[str], shown: str) -> None:
    if "Architecture: all" not in lines:
        raise damage("it is not for all architectures, as cubins are", shown)
    fields = [line.partition(":")[0] for line in lines if not line.startswith(" ")]
    if fields != _FIELDS:
        raise damage(f"it has the fields {', '.join(fields)}; expected {', '.join(_FIELDS)}", shown)


def _check_sums(folder: Path, names: list[str], shown: str) -> None:
    lines = (folder / "control/md5sums").read_text(encoding="utf-8", errors="replace").splitlines()
    recorded = {name: md5 for md5, _, name in (line.partition("  ") for line in lines)}
    for name in sorted(set(names) | set(recorded)):
        if name not in recorded:
            raise damage("md5sums does not list it", f"{shown}:{name}")
        if name not in names:
            raise damage("md5sums lists it, and it is not there", f"{shown}:{name}")
        if _md5((folder / "data" / name).read_bytes()) != recorded[name]:
            raise damage("its bytes are not those that md5sums has", f"{shown}:{name}")


def _md5(data: bytes) -> str:
    """What dpkg compares; against accidents, while the manifest's SHA-256 is what counts."""
    return hashlib.md5(data, usedforsecurity=False).hexdigest()
