"""Assemblers for tests: Triton's own, and programs that stand before one."""

from __future__ import annotations

from pathlib import Path

import triton


def own_ptxas() -> tuple[Path, Path]:
    """Triton's two assemblers: for targets before Blackwell, and from there on."""
    folder = Path(triton.__file__).parent / "backends" / "nvidia" / "bin"
    return folder / "ptxas", folder / "ptxas-blackwell"


def write_ptxas(path: Path, words: str, real: Path) -> Path:
    """A program that runs a real ptxas, or says other words for its version."""
    path.write_text(f'#!/bin/sh\nif [ "$1" = --version ]; then echo "{words}"; exit 0; fi\nexec "{real}" "$@"\n')
    path.chmod(0o755)
    return path
