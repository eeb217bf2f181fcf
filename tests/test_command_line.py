"""The command line as a whole: what no command looks at itself is still told in one line, with the exit code that README gives."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from build_capture.cli import run
from tests.merge.folders import kernel, write

HERE = os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[1])}


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


def test_full_disk_is_told_once(tmp_path: Path) -> None:
    write(tmp_path / "a", kernel())
    with open("/dev/full", "w") as full:
        finished = subprocess.run([sys.executable, "-m", "build_capture", "diff", "a", "a"], cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, env=HERE, check=False)
    assert finished.returncode == 2 and finished.stderr.startswith(b"build-capture: error: No space left on device") and finished.stderr.count(b"\n") == 1


@pytest.mark.parametrize("arguments", [["diff", "a", "b"], ["diff", "a", "b", "--json"], ["diff", "a", "absent"]], ids=" ".join)
def test_exit_code_is_the_same_where_nobody_reads(arguments: list[str], tmp_path: Path) -> None:
    write(tmp_path / "a", kernel())
    write(tmp_path / "b", kernel("bb", x="div16"))
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "build_capture", *arguments]
    # The pipe stands for what is looked at of `diff a b | head -1` and of `diff a absent 2>&1 | head -0`.
    absent = "absent" in arguments
    finished = subprocess.run(command, cwd=tmp_path, stdout=writer, stderr=writer if absent else subprocess.PIPE, env=HERE, check=False)
    os.close(writer)
    assert (finished.returncode, finished.stderr or b"") == (2 if absent else 3, b"")


@pytest.mark.parametrize("command", ["capture", "merge SET", "package SET"])
def test_empty_name_of_a_folder_to_write_is_refused(command: str) -> None:
    finished = subprocess.run([sys.executable, "-m", "build_capture", *command.split(), "--out", ""], capture_output=True, text=True, check=False)
    assert finished.returncode == 2 and "it is empty; expected the name of a folder" in finished.stderr


def test_command_runs_where_standard_error_is_closed() -> None:
    script = 'exec "$0" -m build_capture verify absent 2>&-'
    finished = subprocess.run(["/bin/sh", "-c", script, sys.executable], env=HERE, capture_output=True, text=True, check=False)
    assert finished.returncode == 2
