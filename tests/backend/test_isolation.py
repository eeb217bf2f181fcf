"""The build backend with build isolation: pip installs this project's own wheel and all that it needs for the build alone."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.backend.test_backend import ROOT, write_consumer


@pytest.mark.full
def test_wheel_with_build_isolation_holds_the_set(tmp_path: Path) -> None:
    project = write_consumer(tmp_path / "a b")
    own = [sys.executable, "-m", "pip", "wheel", ROOT, "--no-build-isolation", "--no-deps", "--wheel-dir", tmp_path / "own"]
    subprocess.run(own, check=True, capture_output=True)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-m", "pip", "wheel", ".", "--no-deps", "--find-links", tmp_path / "own", "--wheel-dir", "wheels"]
    finished = subprocess.run(command, cwd=project, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=900)
    assert finished.returncode == 0, finished.stdout
    (wheel,) = (project / "wheels").iterdir()
    with zipfile.ZipFile(wheel) as opened:
        assert len([name for name in opened.namelist() if name.endswith(".cubin")]) == 3
