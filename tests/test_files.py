"""Atomic files, depfiles, targets, and the form of messages."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from build_capture import files
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


def replace_until(step: int, folder: Path) -> bool:
    """Replace `folder` in a process that is killed before its n-th call of the system that audit hooks see; whether it came to its end."""

    def kill(event: str, _: object) -> None:
        nonlocal step
        if event.startswith(("os.", "shutil.", "tempfile.", "ctypes.", "open")):
            step -= 1
            if step < 0:
                os._exit(9)

    child = os.fork()
    if child == 0:
        status = 1
        try:
            sys.addaudithook(kill)
            with replaced_folder(folder) as fresh:
                (fresh / "aot.json").write_text("new")
            status = 0
        finally:
            os._exit(status)
    return os.waitpid(child, 0)[1] == 0


def test_replaced_folder_is_the_old_or_the_new_one_whenever_the_process_is_killed(tmp_path: Path) -> None:
    found = []
    for step in range(100):
        folder = tmp_path / str(step) / "set"
        folder.mkdir(parents=True)
        (folder / "aot.json").write_text("old")
        done = replace_until(step, folder)
        found.append((folder / "aot.json").read_text())
        if done:
            break
    assert done and [path.name for path in folder.parent.iterdir()] == ["set"]
    assert found == sorted(found, reverse=True) and set(found) == {"old", "new"} and len(found) > 5


def test_replaced_folder_replaces_what_a_link_leads_to_where_names_cannot_be_exchanged_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "link").symlink_to("set")
    for text in ("exchanged", "in two steps"):
        with replaced_folder(tmp_path / "link") as fresh:
            (fresh / "aot.json").write_text(text)
        assert (tmp_path / "set/aot.json").read_text() == text and sorted(os.listdir(tmp_path)) == ["link", "set"]
        monkeypatch.setattr(files, "_exchange", lambda first, second: False)


def test_replaced_folder_keeps_one_that_is_read_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = tmp_path / "set/cubins"
    inner.mkdir(parents=True)
    # Root may write everywhere; the answer is that to other users.
    monkeypatch.setattr(files.os, "access", lambda place, mode: Path(place) != inner)
    with pytest.raises(CaptureError, match="cannot write this folder: Permission denied"), replaced_folder(tmp_path / "set"):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["set"] and inner.is_dir()


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
