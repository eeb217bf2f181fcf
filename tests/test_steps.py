"""What is shown of the step that runs: at once on a terminal and inside `zig build`, late without either."""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import sys
from pathlib import Path

import pytest
from rich.console import Console

from build_capture import steps, zig_progress
from build_capture.errors import CaptureError
from build_capture.files import locked
from build_capture.process import run_tool
from build_capture.terminal import compile_progress

SLOW = [sys.executable, "-c", "import time; time.sleep(0.2)"]


@pytest.mark.parametrize(("end", "said"), [("exit 9", "exit 9"), ("kill -ABRT $$", "SIGABRT")])
def test_failing_tool_is_told_by_how_it_ended(end: str, said: str) -> None:
    with pytest.raises(CaptureError) as raised:
        run_tool(["sh", "-c", end], what="running the probe")
    assert str(raised.value) == f"error: running the probe: sh failed ({said})"


@pytest.mark.parametrize(("seconds", "want"), [(0.01, "waiting [here] …\n"), (5, "")])
def test_step_is_told_when_it_takes_long(seconds: float, want: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(steps, "LATE_SECONDS", seconds)
    with steps.shown_by(steps.on_standard_error()):
        run_tool(SLOW, what="waiting [here]")
    assert capsys.readouterr().err == want


def test_step_is_shown_in_zigs_display(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    monkeypatch.setenv(zig_progress.VARIABLE, str(writing))
    with compile_progress(Console(stderr=True)):
        run_tool(SLOW, what="waiting")
    assert os.read(reading, 1000) == zig_progress.message(0, 0, "waiting")


def test_waiting_for_another_capture_is_shown(tmp_path: Path) -> None:
    told: list[str] = []

    def show(what: str) -> contextlib.AbstractContextManager[None]:
        told.append(what)
        # The other one ends.
        other.close()
        return contextlib.nullcontext()

    with steps.shown_by(show):
        with locked(tmp_path):
            pass
        other = (tmp_path / "lock").open("w")
        fcntl.flock(other, fcntl.LOCK_EX)
        with locked(tmp_path):
            pass
    assert told == [f"waiting for another build-capture that uses {tmp_path}"]


class Terminal(io.StringIO):
    """Standard error as a person has it."""

    def isatty(self) -> bool:
        return True


def test_step_is_shown_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for showing in (lambda: steps.shown_by(steps.on_standard_error()), lambda: compile_progress(Console(stderr=True))):
        monkeypatch.setattr(sys, "stderr", text := Terminal())
        with showing():
            run_tool(SLOW, what="waiting [here]")
        assert "waiting [here]" in text.getvalue()
