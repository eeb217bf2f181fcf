"""Run the command line, from an installed package or straight from a source tree (as a fetched Zig package is)."""

import sys
from pathlib import Path

if not __package__:
    # `python path/to/build_capture` puts this folder on the path, where its modules would shadow others; its parent belongs there.
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from build_capture.entry import main  # noqa: E402  (the path has to be right first)

if __name__ == "__main__":
    main()
