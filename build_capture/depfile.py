"""Depfiles: how a build learns which files a capture read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from build_capture.files import write_if_changed


def write_depfile(path: Path, output: Path, inputs: Iterable[Path]) -> None:
    """Write `output: inputs…` as Zig reads it: absolute paths; of an input's characters only the space is escaped."""
    names = sorted({str(entry.resolve()) for entry in inputs})
    lines = [f"{escape_target(str(output.resolve()))}:", *("  " + name.replace(" ", "\\ ") for name in names)]
    write_if_changed(path, (" \\\n".join(lines) + "\n").encode())


def escape_target(name: str) -> str:
    """The path before the colon, of which Zig unescapes more than of the inputs."""
    return name.replace("\\", "\\\\").replace(" ", "\\ ").replace("#", "\\#").replace("$", "$$")
