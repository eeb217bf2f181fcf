"""The entry point: checks that what the command line needs is installed, then hands over to it."""

import importlib.util
import sys
from typing import NoReturn

from build_capture.errors import Exit

REQUIRED_MODULES = {
    "click": "click",
    "msgspec": "msgspec",
    "ninja": "ninja",
    "rich": "rich",
}
"""Module -> the distribution that brings it: what every command imports. Triton is asked for where it is used."""


def main() -> NoReturn:
    """Run `build-capture`; exits with the codes of `build_capture.errors.Exit`."""
    missing = [name for module, name in REQUIRED_MODULES.items() if importlib.util.find_spec(module) is None]
    if missing:
        print(
            f"error: {sys.executable} lacks {', '.join(missing)}; install build-capture into it "
            f"(`pip install build-capture`), or name another Python with -Dcapture-python",
            file=sys.stderr,
        )
        sys.exit(Exit.TOOL)
    from build_capture.cli import run

    sys.exit(run())
