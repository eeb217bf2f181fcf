"""Sets whose provenance, or whose name, is odd: each command answers, or refuses in one message."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from build_capture.cli import run
from build_capture.errors import CaptureError, Exit
from build_capture.package.verify import verify
from tests.package.harness import make
from tests.package.sample import write_sample

VALUES = (None, 5, "a\nb", [{}], {"a": {"b": 1}}, {"a": 1 << 70})
REFUSED: list[tuple[str, Any]] = [
    *((f"provenance.{part}", value) for part in ("toolchain", "limits", "kernels") for value in VALUES),
    *(("policy", 5), ("provenance", [1]), ("generator", {"name": "build-capture", "version": 1})),
]
"""What no capture writes where a manifest repeats it."""
CONTROL = {"\x1b[31m": "\x00"}
TAKEN: list[tuple[str, Any]] = [
    *((f"provenance.{part}", value) for part in ("family", "merged") for value in VALUES),
    *((f"provenance.{part}", CONTROL) for part in ("toolchain", "profile", "merged")),
]
"""What is as odd, and no manifest repeats, or can."""


def odd_sample(folder: Path, place: str, value: Any) -> Path:
    """The sample with one field of its aot.json, or of the provenance there, that is odd."""
    path = write_sample(folder) / "aot.json"
    document = json.loads(path.read_bytes())
    (document["provenance"] if "." in place else document)[place.removeprefix("provenance.")] = value
    path.write_text(json.dumps(document))
    return folder


@pytest.mark.parametrize(("place", "value"), REFUSED)
def test_package_refuses_what_its_manifest_cannot_repeat(place: str, value: Any, tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="aot.json: error: no manifest can repeat what it says of its making: Expected") as caught:
        make(tmp_path / "out", odd_sample(tmp_path / "set", place, value), app="sample")
    assert caught.value.code == Exit.INPUT and not (tmp_path / "out").exists()


@pytest.mark.parametrize(("place", "value"), TAKEN)
def test_package_writes_what_verify_accepts(place: str, value: Any, tmp_path: Path) -> None:
    (file,) = make(tmp_path / "out", odd_sample(tmp_path / "set", place, value), app="sample", formats=("tar.zst",)).files
    assert verify(Path(file)).sets[0].packaged


@pytest.mark.parametrize(("place", "value"), [*REFUSED, *TAKEN])
def test_no_command_ends_in_a_traceback(place: str, value: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    odd_sample(tmp_path / "odd", place, value)
    write_sample(tmp_path / "good")
    for command in ("merge odd good --out merged", "merge merged odd --out again", "diff odd good", "report odd", "verify odd"):
        monkeypatch.setattr("sys.argv", ["build-capture", *command.split()])
        assert run() in (Exit.GOOD, Exit.NOT_COVERED)


def test_package_says_which_set_names_no_family(tmp_path: Path) -> None:
    folder = odd_sample(tmp_path / "set", "provenance.family", ["sample"])
    with pytest.raises(CaptureError, match="set/aot.json: error: it does not say which family it is of; name the app that loads it with --app"):
        make(tmp_path / "out", folder)


def test_merge_takes_a_set_whose_record_of_merging_is_none_as_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    odd_sample(tmp_path / "odd", "provenance.merged", 5)
    monkeypatch.setattr("sys.argv", ["build-capture", "merge", str(tmp_path / "odd"), "--out", str(tmp_path / "out")])
    assert run() == 0
    (record,) = json.loads((tmp_path / "out/aot.json").read_bytes())["provenance"]["merged"]
    assert record["provenance"]["merged"] == 5


@pytest.mark.parametrize("command", ["report {} --out {}.html", "report {} --json", "diff {} {}", "verify {}", "verify {} --json", "package {} --out out", "merge {} --out {}"])
def test_name_that_is_no_text_ends_no_command(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    monkeypatch.chdir(tmp_path)
    name = os.fsdecode(b"s\xff")
    write_sample(Path(name))
    monkeypatch.setattr("sys.argv", ["build-capture", *(word.format(name) for word in command.split())])
    assert run() == 0
    said = capsysbinary.readouterr().out
    if "--json" in command:
        assert "s\udcff" in json.dumps(json.loads(said), ensure_ascii=False)
