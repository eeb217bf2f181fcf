"""`coverage-test`: the generated Zig test."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.read.conftest import zig_command
from tests.read.reader import EXPECTED, FIXTURES, Reader

OPTIONS = {"--parallel": "16", "--window-rows": "4", "--prompt-rows": "0", "--command": 'zig build -Dnote="a\\b"\n'}


def generate(**changes: str) -> list[str]:
    """The command line, with options changed."""
    options = {"--declarations": str(FIXTURES / "forms/triton.zig"), **OPTIONS}
    options |= {f"--{name.replace('_', '-')}": value for name, value in changes.items()}
    return ["coverage-test", *(part for option in options.items() for part in option)]


def test_coverage_test_names_every_launch_and_the_limits(reader: Reader) -> None:
    text = reader.good(*generate())
    launches = reader.read("declarations", FIXTURES / "forms/triton.zig")["launches"]
    assert text.count(".function = ") == len(launches) == 26
    for launch in launches:
        function = "null" if launch["function"] is None else f'"{launch["function"]}"'
        line = f'.{{ .function = {function}, .method = "{launch["method"]}", .file = "{launch["file"]}", .line = {launch["line"]}'
        assert line + shown_names(launch) + " }," in text
    assert {".arguments" in shown_names(launch) for launch in launches} == {True, False}
    assert ".limits = .{ .parallel = 16, .window_rows = 4, .prompt_rows = 0 }," in text
    assert '.command = "zig build -Dnote=\\"a\\\\b\\"\\n",' in text


def shown_names(launch: dict[str, Any]) -> str:
    """The names of a launch's arguments and constexprs, as far as the text shows each of a list."""
    text = ""
    for field in ("arguments", "constexprs"):
        names = None if launch[field] is None else [element["name"] for element in launch[field]]
        if names is None or None in names:
            continue
        listed = ", ".join(json.dumps(name) for name in names)
        text += f", .{field} = &.{{ {listed} }}" if len(names) > 1 else f", .{field} = &.{{{listed}}}"
    return text


def test_coverage_test_is_formatted_and_runs(reader: Reader, tmp_path: Path) -> None:
    (tmp_path / "coverage_test.zig").write_text(reader.good(*generate(target="sm_121")))
    zig = zig_command()
    formatted = subprocess.run([*zig, "fmt", "--check", "--stdin"], input=(tmp_path / "coverage_test.zig").read_bytes(), capture_output=True)
    assert formatted.returncode == 0, formatted.stderr
    (tmp_path / "rounds.zig").write_text("")
    (tmp_path / "aot.json").write_text("{}")
    (tmp_path / "coverage.zig").write_text((EXPECTED / "coverage_stand_in.zig").read_text())
    command = [*zig, "test", "--dep", "coverage", "--dep", "rounds", "--dep", "aot.json", "-Mroot=coverage_test.zig"]
    command += ["-Mcoverage=coverage.zig", "-Mrounds=rounds.zig", "-Maot.json=aot.json", "--cache-dir", "cache"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    assert "limits 16 4 0, 26 launches, 1 without a name, set {}, target sm_121" in result.stderr


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"parallel": "0"}, "--parallel is 0, which is less than 1"),
        ({"window_rows": "0"}, "--window-rows is 0, which is less than 1"),
        ({"parallel": "-1"}, "--parallel is -1, which is no whole number"),
        ({"prompt_rows": "x"}, "--prompt-rows is x, which is no whole number"),
        ({"parallel": "99999999999"}, "--parallel is 99999999999, which is no whole number"),
        ({"command": ""}, "coverage-test needs --command"),
    ],
)
def test_coverage_test_refuses_bad_limits(reader: Reader, changes: dict[str, str], what: str) -> None:
    assert reader.refusal(*generate(**changes))[0].startswith(f"build-capture-reader: error: {what}; expected")


def test_coverage_test_checks_no_target_unless_asked(reader: Reader) -> None:
    assert ".target" not in reader.good(*generate())


def test_coverage_test_lists_what_it_read(reader: Reader, tmp_path: Path) -> None:
    folder = tmp_path / "a b"
    shutil.copytree(FIXTURES / "forms", folder)
    files = reader.read("declarations", folder / "triton.zig")["files"]
    assert len(files) > 2
    want = {str(folder / name).replace(" ", "\\ ") for name in files}
    for declarations, start in ((str(folder / "triton.zig"), tmp_path), ("triton.zig", folder), ("../a b/triton.zig", folder)):
        reader.good(*generate(declarations=declarations, depfile=str(tmp_path / "test.d")), folder=start)
        target, *inputs = (tmp_path / "test.d").read_text().split(" \\\n  ")
        assert target == "coverage_test.zig:"
        assert {name.rstrip("\n") for name in inputs} == want


def test_coverage_test_names_a_depfile_that_cannot_be_written(reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / "absent" / "test.d"
    assert reader.refusal(*generate(depfile=str(path)))[0].startswith(f"{path}: error: the depfile cannot be written (FileNotFound)")


def test_coverage_test_refuses_what_declarations_refuses(reader: Reader, tmp_path: Path) -> None:
    (tmp_path / "triton.zig").write_text("const a = 1\n")
    wanted = reader.refusal("declarations", tmp_path / "triton.zig")
    assert reader.refusal(*generate(declarations=str(tmp_path / "triton.zig"))) == wanted
