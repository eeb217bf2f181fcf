"""The message that Zig's progress display takes."""

from __future__ import annotations

import os
import struct

import pytest

from build_capture import zig_progress


def test_message_names_the_step_first_and_the_title_below_it() -> None:
    message = zig_progress.message(12, 70, "_shared W=any")
    assert len(message) == 1 + 2 * 128 + 2
    assert message[0] == 2
    assert struct.unpack_from("<II", message, 1) == (12, 70)
    assert message[9:129] == bytes(120)
    assert message[129 + 8 :].startswith(b"_shared W=any\0")
    assert message[-2:] == bytes([255, 0])


def test_take_pipe_hides_the_pipe_from_children(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(zig_progress.VARIABLE, "3")
    assert zig_progress.take_pipe() == 3
    assert zig_progress.VARIABLE not in os.environ
    assert zig_progress.take_pipe() is None


def test_send_outlives_a_closed_pipe() -> None:
    reading, writing = os.pipe()
    zig_progress.send(writing, 1, 2, "x" * 500)
    assert os.read(reading, 1000) == zig_progress.message(1, 2, "x" * 120)
    os.close(reading)
    zig_progress.send(writing, 2, 2, "y")
    os.close(writing)
    zig_progress.send(writing, 2, 2, "z")
