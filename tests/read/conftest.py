"""The reader, compiled once for all tests of it."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.read.reader import Reader

ROOT = Path(__file__).resolve().parents[2]


def zig_command() -> list[str]:
    """The Zig to test with: the one that BUILD_CAPTURE_TEST_ZIG names, else the `ziglang` package of this Python."""
    named = os.environ.get("BUILD_CAPTURE_TEST_ZIG")
    return shlex.split(named) if named else [sys.executable, "-m", "ziglang"]


@pytest.fixture(scope="session")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    """The reader, compiled the plain way, with the safety checks of a debug build."""
    folder = tmp_path_factory.mktemp("reader")
    program = folder / "build-capture-reader"
    command = [*zig_command(), "build-exe", str(ROOT / "zig_bridge/reader/main.zig"), f"-femit-bin={program}", "--cache-dir", str(folder / "cache")]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    assert not result.stderr, f"the compiler warns: {result.stderr}"
    return Reader(program)
