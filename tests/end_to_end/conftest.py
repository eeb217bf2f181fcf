"""The example as a user has it: a copy of this tree, in a folder whose name holds a space."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
ZIGS = {"0.16": "BUILD_CAPTURE_ZIG_0_16", "0.17": "BUILD_CAPTURE_ZIG_0_17"}
"""Where `make test` says which Zig is which."""


def zig_executable(release: str) -> str:
    """The Zig of a release. Without one the test fails: a skip would look like a pass."""
    executable = os.environ.get(ZIGS[release])
    if not executable:
        pytest.fail(f"{ZIGS[release]} is not set; expected the path of that Zig; try `make test`", pytrace=False)
    return executable


@dataclass(frozen=True)
class Example:
    """A copy of examples/qwen27, with the rest of the tree around it."""

    folder: Path
    """The example's own folder."""
    python: Path
    """A Python that writes a line to `log` whenever it starts."""
    log: Path

    @property
    def kernels(self) -> Path:
        """The family's kernels in this copy."""
        return self.folder.parents[1] / "kernels" / "qwen27"

    @property
    def installed(self) -> Path:
        """Where the set for sm_121 installs to."""
        return self.folder / "zig-out" / "share" / "qwen27" / "cuda" / "sm121"

    def starts(self) -> int:
        """How often Python was started."""
        return len(self.log.read_text().splitlines()) if self.log.exists() else 0

    def zig_build(self, release: str, *arguments: str, ok: bool = True) -> str:
        """Run `zig build` in the example; returns all that it printed."""
        command = [zig_executable(release), "build", *arguments, f"-Dcapture-python={self.python}"]
        finished = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        printed = finished.stdout + finished.stderr
        assert (finished.returncode == 0) is ok, printed
        return printed

    def command_line(self, *arguments: str | Path, ok: bool = True) -> dict[str, Any]:
        """Run this copy's `build-capture … --json` with Zig 0.16; returns the JSON."""
        command = [sys.executable, self.folder.parents[1] / "build_capture", *arguments, "--zig", zig_executable("0.16"), "--json"]
        finished = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (finished.returncode == 0) is ok, finished.stdout + finished.stderr
        return json.loads(finished.stdout)


def copy_tree(destination: Path) -> Example:
    """Copy what git tracks or would track to `destination`."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True, check=True)
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (destination / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, destination / name)
    python, log = destination.parent / "python that logs", destination.parent / "starts"
    python.write_text(f'#!/bin/sh\necho start >> "{log}"\nexec "{sys.executable}" "$@"\n')
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    return Example(destination / "examples" / "qwen27", python, log)


@pytest.fixture(scope="session")
def captured(tmp_path_factory: pytest.TempPathFactory) -> Example:
    """The example, captured by `zig build` with Zig 0.16 for all that the issue's server can serve."""
    example = copy_tree(tmp_path_factory.mktemp("first") / "a copy")
    example.zig_build("0.16", "install", "test", "-Dcapture=true", "-Dparallel=16")
    return example
