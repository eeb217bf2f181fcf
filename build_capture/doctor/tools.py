"""The programs and packages that a capture needs, and those that more can be done with."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
import re
import sys
from pathlib import Path

from build_capture.doctor.assemblers import TritonAnswer, ask_triton
from build_capture.doctor.records import Tool
from build_capture.errors import CaptureError
from build_capture.zig import find_zig

ZIG_TESTED = ("0.16.0", "0.17.1")
"""The releases that every test runs with."""

PYTHON_OLDEST = (3, 10)

TRITON_OLDEST, TRITON_AFTER = (3, 6), (3, 10)
"""From the first up to, and without, the second; as pyproject.toml says."""

TRITON_MEND = f"{sys.executable} -m pip install 'triton>=3.6,<3.10'"


def zig_tool(given: str | None) -> Tool:
    """The Zig that a capture would take."""
    try:
        zig = find_zig(given)
    except CaptureError as error:
        return Tool("Zig", "", given or "", "bad", error.what, error.mend or "name another with --zig")
    tested = zig.version in ZIG_TESTED
    note = "" if tested else f"captures are tested with {' and '.join(ZIG_TESTED)}"
    return Tool("Zig", zig.version, " ".join(zig.command), "good" if tested else "untested", note)


def python_tool() -> Tool:
    """The Python that runs this, which is the one that a capture runs in."""
    good = sys.version_info[:2] >= PYTHON_OLDEST
    oldest = ".".join(map(str, PYTHON_OLDEST))
    return Tool("Python", platform.python_version(), sys.executable, "good" if good else "bad", "", "" if good else f"take Python {oldest} or newer")


def triton_tool() -> tuple[Tool, TritonAnswer | None]:
    """The Triton of this Python, with its answer where it can be imported."""
    if importlib.util.find_spec("triton") is None:
        return Tool("Triton", "", "", "bad", f"not in {sys.executable}", TRITON_MEND), None
    try:
        answer = ask_triton()
    except CaptureError as error:
        last = (error.detail.splitlines() or [error.what])[-1].strip()
        return Tool("Triton", _distribution("triton"), "", "bad", f"it cannot be imported: {last}", TRITON_MEND), None
    numbers = tuple(int(number) for number in re.findall(r"\d+", answer.version)[:2])
    good = TRITON_OLDEST <= numbers < TRITON_AFTER
    note = "" if good else "captures need 3.6 or newer" if numbers < TRITON_OLDEST else "captures are tested with 3.6 to 3.9"
    state = "good" if good else "bad" if numbers < TRITON_OLDEST else "untested"
    return Tool("Triton", answer.version, answer.path, state, note, TRITON_MEND if state == "bad" else ""), answer


def ninja_tool() -> Tool:
    """The ninja that runs the compiles: the one of the package, not one on PATH."""
    import ninja

    path = Path(ninja.BIN_DIR) / "ninja"
    if not path.is_file():
        return Tool("ninja", "", str(path), "bad", "its program is missing", f"{sys.executable} -m pip install --force-reinstall ninja")
    return Tool("ninja", _distribution("ninja"), str(path), "good")


def torch_tool() -> Tool:
    """PyTorch, which only mode gpu and kernels' references use."""
    found = importlib.util.find_spec("torch")
    note = "for mode gpu alone"
    return Tool("torch", _distribution("torch") if found else "", str(Path(found.origin).parent) if found and found.origin else "", "good", note)


def _distribution(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "(not installed by pip)"
