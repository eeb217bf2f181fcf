"""Atomic files, depfiles, targets, and the form of messages."""

from __future__ import annotations

from pathlib import Path

import pytest

from build_capture.depfile import write_depfile
from build_capture.errors import CaptureError, Exit, Place, nearest, raise_all
from build_capture.files import replaced_folder, write_if_changed
from build_capture.targets import parse_target


def test_write_depfile_escapes_what_zig_unescapes(tmp_path: Path) -> None:
    folder = tmp_path / "a b" / "ü#$"
    write_depfile(tmp_path / "out.d", folder / "set", [folder / "kernel.py"])
    text = (tmp_path / "out.d").read_text()
    assert text == f"{tmp_path}/a\\ b/ü\\#$$/set: \\\n  {tmp_path}/a\\ b/ü#$/kernel.py\n"


def test_write_if_changed_keeps_the_time_of_an_equal_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    assert write_if_changed(path, b"one")
    before = path.stat().st_mtime_ns
    assert not write_if_changed(path, b"one")
    assert path.stat().st_mtime_ns == before
    assert write_if_changed(path, b"two")
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_replaced_folder_keeps_the_old_one_when_the_block_fails(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "old").write_text("old")
    with pytest.raises(RuntimeError), replaced_folder(tmp_path / "set") as fresh:
        (fresh / "new").write_text("new")
        raise RuntimeError
    assert [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")] == ["set", "set/old"]


def test_parse_target_lists_the_nearest() -> None:
    assert parse_target("sm_121").folder == "sm121"
    with pytest.raises(CaptureError, match="unknown target 'sm_122'; did you mean"):
        parse_target("sm_122")


def test_messages_are_sorted_and_counted() -> None:
    later = CaptureError("b", where=Place("f", 9, 1))
    sooner = CaptureError("a", where=Place("f", 2, 3), mend="try c", code=Exit.KERNEL)
    with pytest.raises(CaptureError) as raised:
        raise_all([later, sooner])
    assert str(raised.value) == "f:2:3: error: a; try c\nf:9:1: error: b\n2 errors"
    assert raised.value.code == Exit.KERNEL
    raise_all([])


def test_nearest_lists_all_where_none_is_near() -> None:
    assert nearest("zzz", ["alpha", "beta"]) == "expected one of alpha, beta"
    assert nearest("alpa", ["alpha", "beta"]) == "did you mean alpha?"
