"""Depfiles: how a build learns which files a capture read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from build_capture.files import write_if_changed


def write_depfile(path: Path, output: Path, inputs: Iterable[Path]) -> None:
    """Write `output: inputs…` in Make's form, which Zig, Ninja and CMake read: absolute paths, spaces escaped."""
    names = sorted({str(entry.resolve()) for entry in inputs})
    lines = [f"{escape(str(output.resolve()))}:", *(f"  {escape(name)}" for name in names)]
    write_if_changed(path, (" \\\n".join(lines) + "\n").encode())


def escape(name: str) -> str:
    """A path as a depfile writes it."""
    return name.replace("\\", "\\\\").replace(" ", "\\ ").replace("#", "\\#").replace("$", "$$")
