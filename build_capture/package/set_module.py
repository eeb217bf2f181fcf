"""The Python package by which a wheel tells where its sets are installed."""

from __future__ import annotations

TEXT = '''"""The captured sets of {family}: an engine loads one folder, `aot.json` and `cubins/`. Nothing here needs more than Python."""

import sys
from pathlib import Path

SETS = Path(__file__).parent / "share" / "{family}" / "cuda"
"""A folder for each target."""


def targets():
    """The targets that there are sets for, such as sm_121."""
    return sorted(f"sm_{{path.parent.name[2:]}}" for path in SETS.glob("sm*/aot.json"))


def folder(target=None):
    """The folder of the set for `target`, such as sm_121; of the only set where none is named. Raises LookupError."""
    there = targets()
    wanted = target or (there[0] if len(there) == 1 else None)
    if wanted not in there:
        raise LookupError(f"have {{', '.join(there)}}, need {{target or 'the name of one'}}")
    return SETS / wanted.replace("_", "")


def main():
    """Print the folder of the set for the target that the command line names."""
    try:
        print(folder(*sys.argv[1:2]))
    except LookupError as error:
        sys.exit(f"error: {{error}}")
'''

MAIN = '''"""Prints where a captured set is installed: python -m <package> [sm_121]"""

from . import main

main()
'''


def set_module(family: str) -> dict[str, bytes]:
    """The package's Python files by name, for the sets below `share/<family>/cuda` beside them."""
    return {"__init__.py": TEXT.format(family=family).encode(), "__main__.py": MAIN.encode()}


def set_path(family: str, target_folder: str) -> str:
    """Where the set for a target (`sm121`) lies in that package."""
    return f"share/{family}/cuda/{target_folder}"
