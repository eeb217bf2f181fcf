"""Run the command line, from an installed package or straight from a source tree (as a fetched Zig package is).

    python -m build_capture ARGUMENT...
    python path/to/build_capture ARGUMENT...
    python path/to/build_capture --module MODULE ARGUMENT...    another module of the same tree, for what build-capture starts itself
"""

import importlib.machinery
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent


class OwnTree:
    """Finds build-capture's modules in the tree that this file is in. Left to itself, Python would ask an editable install
    of build-capture first, which may be of another version."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: object = None) -> importlib.machinery.ModuleSpec | None:
        """What `importlib` asks of each finder of `sys.meta_path`."""
        if name.partition(".")[0] != PACKAGE.name:
            return None
        return importlib.machinery.PathFinder.find_spec(name, [str(PACKAGE.parent)] if path is None else path)


def run() -> None:
    """Run what the arguments say."""
    if sys.argv[1:2] == ["--module"]:
        del sys.argv[:2]
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        return
    from build_capture.entry import main

    main()


if __name__ == "__main__":
    if not __package__:
        # Python puts this folder on the path, unless told not to; its modules would shadow others there.
        if Path(sys.path[0]).resolve() == PACKAGE:
            del sys.path[0]
        sys.meta_path.insert(0, OwnTree)
    run()
