"""The ninja graph that compiles what is missing, in parallel."""

from __future__ import annotations

import io
import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import ninja
from ninja.ninja_syntax import Writer

from build_capture.errors import CaptureError, Exit
from build_capture.files import write_if_changed
from build_capture.process import own_module, shorten

Progress = Callable[[int, int, str], None]
"""Called with how many compiles are done, how many there are, and which one ended last."""

_STATUS = re.compile(r"\[(\d+)/(\d+)\] (.*)")


def run_graph(folder: Path, titles: dict[str, str], *, jobs: int, environment: dict[str, str], progress: Progress) -> None:
    """Compile `requests/<key>.json` of `folder` to `results/<key>.json` for each key of `titles`.

    What is there already is left alone. Every request is tried, however many fail: a worker that fails leaves
    `results/<key>.error`. `titles` says what each compile is called in the progress. `jobs` compiles run at a time.
    """
    text = io.StringIO()
    writer = Writer(text, width=200)
    # One shell line; what ninja itself puts into it is relative to the folder and holds no space.
    worker = shlex.join(own_module("build_capture.capture.worker")).replace("$", "$$")
    writer.rule("variant", f"{worker} compile $in $out", description="$title")
    for key, title in sorted(titles.items()):
        writer.build(f"results/{key}.json", "variant", f"requests/{key}.json", variables={"title": title.replace("$", "$$")})
    write_if_changed(folder / "build.ninja", text.getvalue().encode())
    command = [str(Path(ninja.BIN_DIR) / "ninja"), "-C", str(folder), "-j", str(jobs), "-k", "0"]
    lines = []
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=environment | {"NINJA_STATUS": "[%f/%t] "},
    ) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                lines.append(line)
                if status := _STATUS.match(line):
                    progress(int(status[1]), int(status[2]), status[3].strip())
        except BaseException:
            # An interrupt ends the compiles too; ninja waits for the workers that it started.
            process.terminate()
            raise
    # A worker that fails, or that its kernel takes down with it, is told of by who collects the results.
    failed = any(line.startswith("FAILED:") for line in lines)
    if process.returncode != 0 and not failed:
        raise CaptureError(f"ninja failed (exit {process.returncode})", detail=shorten("".join(lines)), code=Exit.OUR_FAULT)
