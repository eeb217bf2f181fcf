"""Assemblers for tests: Triton's own, and programs that stand before one."""

from __future__ import annotations

from pathlib import Path

import triton


def own_ptxas() -> tuple[Path, Path]:
    """Triton's two assemblers: for targets before Blackwell, and from there on."""
    folder = Path(triton.__file__).parent / "backends" / "nvidia" / "bin"
    return folder / "ptxas", folder / "ptxas-blackwell"


def write_ptxas(path: Path, words: str, real: Path, unknown: str = "none") -> Path:
    """A program that runs a real ptxas, but says other words for its version, and does not know one GPU."""
    refusal = f"ptxas fatal   : Value '{unknown}' is not defined for option 'gpu-name'"
    lines = [
        "#!/bin/sh",
        f'if [ "$1" = --version ]; then echo "{words}"; exit 0; fi',
        f'if [ "$1" = --gpu-name={unknown} ]; then echo "{refusal}" >&2; exit 255; fi',
        f'exec "{real}" "$@"',
    ]
    path.write_text("\n".join(lines) + "\n")
    path.chmod(0o755)
    return path
