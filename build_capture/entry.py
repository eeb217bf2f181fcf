"""The entry point: checks that what the command line needs is installed, then hands over to it."""

import importlib.util
import shlex
import sys
from pathlib import Path
from typing import NoReturn

from build_capture.errors import Exit

REQUIRED_MODULES = {
    "click": "click",
    "msgspec": "msgspec",
    "ninja": "ninja",
    "rich": "rich",
}
"""Module -> the distribution that brings it: what every command imports. Triton is asked for where it is used."""


COMMAND_MODULES = {"jinja2": "jinja2", "zstandard": "zstandard"}
"""The same for what some commands alone import."""


def lacking(missing: list[str]) -> str:
    """The message for a Python without these packages. build-capture is on no index: what is installed is this very tree."""
    if importlib.util.find_spec("triton") is None:
        missing = [*missing, "triton"]
    root = Path(__file__).resolve().parents[1]
    source = shlex.quote(str(root)) if (root / "pyproject.toml").is_file() else "<the build-capture repository>"
    python = shlex.quote(sys.executable)
    return f"{sys.executable} lacks {', '.join(missing)}; run `{python} -m pip install {source}`, or name another Python (-Dcapture-python; in CMake, TRITON_CAPTURE_PYTHON)"


def main() -> NoReturn:
    """Run `build-capture`; exits with the codes of `build_capture.errors.Exit`."""
    missing = [name for module, name in REQUIRED_MODULES.items() if importlib.util.find_spec(module) is None]
    if missing:
        print(f"error: {lacking(missing)}", file=sys.stderr)
        sys.exit(Exit.TOOL)
    from build_capture.cli import run

    sys.exit(run())
