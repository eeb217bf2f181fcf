"""The command line as a whole: what no command looks at itself is still told in one line, with the exit code that README gives."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("arguments", [("check", "SET"), ("report", "SET"), ("verify", "SET"), ("explain", "SET"), ("needs", "--profile", "SET")])
def test_name_that_is_too_long_is_told_without_a_traceback(arguments: tuple[str, ...], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "build_capture", *(str(tmp_path / ("n" * 300)) if word == "SET" else word for word in arguments)]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.returncode == 2 and "Traceback" not in finished.stderr, finished.stderr
    assert "File name too long" in finished.stderr or "error:" in finished.stderr


@pytest.mark.parametrize("option", ["--target", "--digest"])
def test_verify_refuses_an_empty_option(option: str, tmp_path: Path) -> None:
    finished = subprocess.run([sys.executable, "-m", "build_capture", "verify", tmp_path, option, ""], capture_output=True, text=True, check=False)
    assert finished.returncode == 2 and "error: " in finished.stderr, finished.stderr
