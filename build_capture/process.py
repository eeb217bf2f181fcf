"""The one door for subprocesses: always checked, the tool's own words shown when it fails."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from build_capture.errors import CaptureError, Exit
from build_capture.steps import shown

SPOKEN = 2
"""With this exit a tool of ours has printed complete messages."""

DETAIL_LINES_MAX = 60
"""How much of a tool's output a message repeats."""


def run_tool(
    command: Sequence[str | Path],
    *,
    what: str,
    environment: Mapping[str, str] | None = None,
    code: Exit = Exit.INPUT,
    mend: str = "",
    folder: Path | None = None,
    speaks: bool = False,
    seconds_max: float | None = None,
) -> str:
    """Run `command` and return its standard output.

    Raises a `CaptureError` with `code` and the tool's standard error when it exits non-zero, and one with
    `Exit.TOOL` when it cannot be started, or does not end within `seconds_max`. `what` says what is being done, such as
    "reading triton.zig", also to whoever waits. It runs in `folder`. A tool of ours `speaks`: what it says is the message,
    with its place, and needs no frame.
    """
    arguments = [str(part) for part in command]
    try:
        with shown(what):
            finished = subprocess.run(
                arguments,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                env=None if environment is None else dict(environment),
                cwd=folder,
                check=False,
                timeout=seconds_max,
            )
    except subprocess.TimeoutExpired as error:
        raise CaptureError(f"{what}: {arguments[0]} did not end within {seconds_max} seconds", mend=mend, code=Exit.TOOL) from error
    except OSError as error:
        raise CaptureError(f"{what}: cannot start {arguments[0]}: {error.strerror}", mend=mend, code=Exit.TOOL) from error
    if speaks and finished.returncode == SPOKEN and finished.stderr.strip():
        raise CaptureError(finished.stderr.strip(), code=code, whole=True)
    if finished.returncode != 0:
        raise CaptureError(
            f"{what}: {Path(arguments[0]).name} failed ({ending(finished.returncode)})",
            mend=mend,
            detail=shorten(finished.stderr or finished.stdout),
            code=code,
        )
    return finished.stdout


def ending(code: int) -> str:
    """How a program ended that did not end well, in words: `exit 2`, or the signal that ended it, `SIGABRT`."""
    if code >= 0:
        return f"exit {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def shorten(text: str) -> str:
    """The first lines of a tool's output, with a count of what was left out."""
    lines = text.strip().splitlines()
    left = len(lines) - DETAIL_LINES_MAX
    if left > 0:
        lines = [*lines[:DETAIL_LINES_MAX], f"({left} more lines)"]
    return "\n".join(lines)


def own_module(name: str) -> list[str]:
    """The command that runs a module of build-capture as a process of its own, from the tree that this one runs from."""
    return [sys.executable, str(Path(__file__).with_name("__main__.py")), "--module", name]


KEPT_VARIABLES = ("PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "TMPDIR", "LANG", "LC_ALL", "SYSTEMROOT")
"""What a compile may see of the user's environment: enough to start Python, nothing that Triton or LLVM reads."""


def closed_environment(private: Path, **variables: str) -> dict[str, str]:
    """An environment in which no variable of the user's changes a result, and nothing is written outside `private`.

    The user's home, Triton cache and every TRITON_*, PTXAS_*, MLIR_* or LLVM_* variable are out of sight.
    """
    environment = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    environment |= {
        "HOME": str(private),
        "TRITON_HOME": str(private),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONNOUSERSITE": "1",
    }
    return environment | variables
