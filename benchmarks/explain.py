"""How fast `explain` reads a log, against `grep -c` on the same file: a log of other lines, and one of nothing but failures.

    python benchmarks/explain.py [--mebibytes 50] [--folder DIR]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.explain.logs import WHOLE, write_log  # noqa: E402

RUNS = 3


def seconds_of(command: list[str | Path]) -> float:
    """The least processor time of a few runs, in seconds: user and system, without what others on the machine take."""
    least = float("inf")
    for _ in range(RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        # Not to the null device: grep stops at its first line then.
        subprocess.run(command, capture_output=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        least = min(least, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return least


def peak_kib(command: list[str | Path]) -> int:
    """The most memory that a command had, in KiB."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    return usage.ru_maxrss


def main() -> None:
    """Measure, and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mebibytes", type=int, default=50)
    parser.add_argument("--folder", type=Path, default=None, help="Where the logs are written for a moment.")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        logs = {name: Path(folder) / name for name in ("other lines", "failures alone", "almost empty")}
        size = given.mebibytes << 20
        with logs["other lines"].open("wb") as stream:
            write_log(stream, size, [WHOLE])
        with logs["failures alone"].open("wb") as stream:
            stream.writelines([WHOLE.encode()] * (size // len(WHOLE)))
        logs["almost empty"].write_text(WHOLE)
        measured = {}
        for name, log in logs.items():
            explain: list[str | Path] = [sys.executable, ROOT / "build_capture", "explain", log]
            started = time.monotonic()
            subprocess.run(explain, stdout=subprocess.DEVNULL, check=False)
            wall = time.monotonic() - started
            taken, grep = seconds_of(explain), seconds_of(["grep", "-c", "captured Triton variant", log])
            measured[name] = {
                "bytes": log.stat().st_size,
                "explain_seconds": round(taken, 3),
                "explain_wall_seconds": round(wall, 3),
                "grep_seconds": round(grep, 3),
                "ratio_to_grep": round(taken / grep, 1) if grep else None,
                "explain_peak_kib": peak_kib(explain),
            }
    json.dump(measured, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
