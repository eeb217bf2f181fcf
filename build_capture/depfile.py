"""Depfiles: how a build learns which files a capture read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from build_capture.files import write_if_changed


def write_depfile(path: Path, output: Path, inputs: Iterable[Path], *, for_make: bool = False) -> None:
    """Write `output: inputs…` with absolute paths: as Zig reads it, which of an input's characters escapes only the
    space, or as Make, Ninja and CMake do."""
    escape = escape_for_make if for_make else escape_space
    names = sorted({str(entry.resolve()) for entry in inputs})
    target = (escape_for_make if for_make else escape_target)(str(output.resolve()))
    lines = [f"{target}:", *("  " + escape(name) for name in names)]
    write_if_changed(path, (" \\\n".join(lines) + "\n").encode())


def escape_space(name: str) -> str:
    """An input's path for Zig."""
    return name.replace(" ", "\\ ")


def escape_target(name: str) -> str:
    """The path before the colon, of which Zig unescapes more than of the inputs."""
    return escape_for_make(name.replace("\\", "\\\\"))


def escape_for_make(name: str) -> str:
    """A path for Make, Ninja and CMake, to which a backslash that escapes nothing is itself."""
    return name.replace(" ", "\\ ").replace("#", "\\#").replace("$", "$$")
