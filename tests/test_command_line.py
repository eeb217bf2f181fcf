"""The command line as a whole: what no command looks at itself is still told in one line, with the exit code that README gives."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from build_capture.cli import run


@pytest.mark.parametrize("arguments", [("check", "SET"), ("report", "SET"), ("verify", "SET"), ("explain", "SET"), ("needs", "--profile", "SET")])
def test_name_that_is_too_long_is_told_without_a_traceback(arguments: tuple[str, ...], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "build_capture", *(str(tmp_path / ("n" * 300)) if word == "SET" else word for word in arguments)]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.returncode == 2 and "Traceback" not in finished.stderr, finished.stderr
    assert "File name too long" in finished.stderr or "error:" in finished.stderr


@pytest.mark.parametrize("command", ["check SET", "diff SET SET", "explain LOG --set SET", "merge SET --out out", "package SET --out out", "report SET", "verify SET"])
def test_aot_json_that_cannot_be_read_is_bad_input_to_all_but_verify(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "SET").mkdir()
    (tmp_path / "SET/aot.json").write_text("{")
    (tmp_path / "LOG").write_text("error: no captured Triton variant of _f for X: *bf16 aligned\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["build-capture", *command.split()])
    assert run() == (3 if command.startswith("verify") else 2)


@pytest.mark.parametrize("option", ["--target", "--digest"])
def test_verify_refuses_an_empty_option(option: str, tmp_path: Path) -> None:
    finished = subprocess.run([sys.executable, "-m", "build_capture", "verify", tmp_path, option, ""], capture_output=True, text=True, check=False)
    assert finished.returncode == 2 and "error: " in finished.stderr, finished.stderr
