"""What `explain` answers, with a set, with a profile, and with neither."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from build_capture.pipeline.plan import Looked, Opened, Request, look, open_profile
from build_capture.plan.needs import Span
from build_capture.read.profile import Limits
from build_capture.sets import asking as asking_module
from build_capture.sets.asking import Asking, show_spans
from build_capture.sets.explain import Answer, explain
from build_capture.sets.read import read_set
from tests.explain.logs import other_lines, prefixed
from tests.explain.test_log import read
from tests.report.conftest import captured, planning, without
from tests.sets.entries import of_another_tool

__all__ = ["captured", "planning", "without"]

ROOT = Path(__file__).resolve().parents[2]
SM_121 = "-Dcapture-target=sm_121"

WHOLE = """\
error: no captured Triton variant of _mixed_attend for this launch:
  Q: *bf16 at 0x7f0000000000 (16-aligned true)
  TABLE: *i32 at 0x7f0000000108 (16-aligned false)
  W: i32 2
info: reason=error (MissingTritonVariant) prompt=75187
"""
CUT = "no captured Triton variant of _mixed_attend for this launch: Q: *bf16 … W: i32 2\n"


def serves_rows(kernel: dict[str, Any]) -> bool:
    """Whether an entry is of `_mixed_attend` for W of class any."""
    return kernel["fn"] == "_mixed_attend" and any(param["name"] == "W" and not param["div16"] for param in kernel["params"])


@pytest.fixture
def lacking(without: Callable[[Callable[[dict[str, Any]], bool]], Path]) -> Path:
    """The set of the family without the entries for W of class any."""
    return without(serves_rows)


@pytest.fixture(scope="module")
def looks() -> dict[Limits, Looked]:
    """What the family's rounds launch, by their limits."""
    return {}


@pytest.fixture(autouse=True)
def look_once(looks: dict[Limits, Looked], monkeypatch: pytest.MonkeyPatch) -> None:
    """Drive the family's rounds once for each limits, however many tests ask."""

    def remembered(opened: Opened, *, spans: bool) -> Looked:
        assert spans
        if opened.limits not in looks:
            looks[opened.limits] = look(opened, spans=True)
        return looks[opened.limits]

    monkeypatch.setattr(asking_module, "look", remembered)


def answers(text: str, found: Path | None = None, planned: dict[str, Any] | None = None, **changes: Any) -> list[Answer]:
    """What is answered to a log."""
    opened = open_profile(Request(**{**planned, **changes})) if planned else None
    return explain(read(text), read_set(found) if found else None, opened).answers


def test_explain_whole_and_cut_alike(lacking: Path, planning: dict[str, Any]) -> None:
    forms = {
        "whole": WHOLE,
        "cut": CUT,
        "prefixed": prefixed(WHOLE, "2026-11-29T12:00:0{n}Z svc-1  | "),
        "long": "".join(line.decode() for line in other_lines(1 << 20)) + WHOLE,
    }
    found = {name: answers(text, lacking, planning) for name, text in forms.items()}
    for name, (answer,) in found.items():
        told = [(missing.argument.name, missing.argument.type, missing.argument.class_, missing.argument.value, missing.there) for missing in answer.missing]
        assert told == [("W", "i32", "any", 2, ["one"])], name
        assert "W is 1 (folded) there, 2 (any) here" in answer.near[0].differences, name
        # Rounds of 4 rows have an aligned table; the cut log does not show which it was.
        rows = "2..4" if name == "cut" else "2..3"
        assert answer.asking == Asking(f"decode rounds of {rows} rows, from 1 stream on", Limits(2, 2, 0), beyond=False), name
        assert answer.command == f"zig build -Dcapture=true -Dparallel=2 -Dwindow-rows=2 {SM_121}", name
        assert "the set was captured for parallel 2, window rows 2" in answer.notes


def test_explain_beyond_the_limits(lacking: Path, planning: dict[str, Any]) -> None:
    (answer,) = answers(WHOLE.replace("W: i32 2", "W: i32 39"), lacking, planning)
    assert answer.asking is not None and answer.asking.beyond
    assert answer.command == f"zig build -Dcapture=true -Dparallel=20 -Dwindow-rows=2 {SM_121}"
    assert "the profile's limits hold no such round; parallel 20 with window rows 2 do" in answer.notes
    # W = 2 with one stream alone is of longer windows.
    (answer,) = answers(WHOLE, lacking, planning, parallel=1, window_rows=1)
    assert answer.asking is not None and answer.asking.beyond and answer.asking.limits == Limits(4, 1, 0)
    # What the set was captured for stays: capturing for windows of one row alone would lose the others.
    assert answer.command == f"zig build -Dcapture=true -Dparallel=4 -Dwindow-rows=2 {SM_121}"
    assert answer.asking.rounds == "decode rounds of 2..3 rows, from 2 streams on"


def test_explain_rows_that_no_round_has_with_such_tables(without: Callable[..., Path], planning: dict[str, Any]) -> None:
    # An aligned table comes with W = 4 alone here; its variant serves the launch all the same.
    folder = without(lambda kernel: kernel["fn"] == "_mixed_attend" and any(param["name"] == "TABLE" and param["div16"] for param in kernel["params"]))
    (answer,) = answers(WHOLE.replace("(16-aligned false)", "(16-aligned true)"), folder, planning)
    assert [missing.argument.name for missing in answer.missing] == ["TABLE"]
    assert answer.asking is not None and answer.asking.rounds == "decode rounds of 4 rows, with 2 streams"


def test_explain_what_no_round_asks_for(lacking: Path, planning: dict[str, Any]) -> None:
    (answer,) = answers(WHOLE.replace("(16-aligned true)", "(16-aligned false)"), lacking, planning)
    assert answer.asking is not None and not answer.asking.rounds
    assert answer.command == f"zig build -Dcapture=true -Dparallel=2 -Dwindow-rows=2 -Dcapture-policy=total {SM_121}"
    assert any(note.startswith("no round of this profile makes such a launch") for note in answer.notes)
    # Rounds of 16 rows ask for what is missing, W of class div16, but their tables are always aligned: capturing those rounds
    # would not serve the launch.
    (answer,) = answers(WHOLE.replace("W: i32 2", "W: i32 16"), lacking, planning)
    assert [missing.argument.name for missing in answer.missing] == ["W"]
    assert answer.asking is not None and (answer.asking.rounds, answer.asking.part) == ("", "decode rounds of 16 rows, with 8 streams")
    assert "-Dparallel=2 -Dwindow-rows=2 -Dcapture-policy=total" in answer.command
    assert any(note.startswith("no round of this profile makes such a launch") for note in answer.notes)
    assert any(note.startswith("decode rounds of 16 rows, with 8 streams ask for what is missing, but with other classes") for note in answer.notes)
    # Of a launch that names another argument than the declarations do, nothing is said to ask.
    (answer,) = answers(WHOLE.replace("TABLE", "ITEMS"), lacking, planning)
    assert answer.asking is not None and not answer.asking.rounds


def test_explain_rows_that_the_kernel_does_not_specialize(captured: Path, planning: dict[str, Any], tmp_path: Path) -> None:
    kernels = json.loads((captured / "aot.json").read_text())["kernels"]
    own = next(kernel for kernel in kernels if serves_rows(kernel) and any(param["name"] == "TABLE" and not param["div16"] for param in kernel["params"]))
    folded = next(kernel for kernel in kernels if kernel["fn"] == "_mixed_attend" and all(param["name"] != "W" for param in kernel["params"]))
    for kernel in (own, folded):
        kernel["params"] = [{**{name: param[name] for name in ("name", "type", "div16")}, "nospec": param["name"] == "W"} for param in kernel["params"]]
    fields = ("fn", "hash", "name", "num_warps", "params", "consts")
    (tmp_path / "aot.json").write_text(json.dumps({"kernels": [{name: own[name] for name in fields}]}))
    (answer,) = answers(WHOLE.replace("(16-aligned false)", "(16-aligned true)").replace("W: i32 2", "W: i32 1"), tmp_path, planning)
    assert [missing.argument.name for missing in answer.missing] == ["TABLE"]
    # One row comes with an unaligned table alone; the variant of these rounds serves any number of rows.
    assert answer.asking is not None and answer.asking.rounds == "decode rounds of 4 rows, with 2 streams"
    # Generic code, as policy total adds it, serves any number of rows of a kernel that specializes them.
    (tmp_path / "aot.json").write_text(json.dumps({"kernels": [{name: kernel[name] for name in fields} for kernel in (own, folded)]}))
    (answer,) = answers(WHOLE.replace("(16-aligned false)", "(16-aligned true)").replace("W: i32 2", "W: i32 1"), tmp_path, planning)
    assert answer.asking is not None and answer.asking.rounds == ""


def test_explain_calls_over_domains(lacking: Path, planning: dict[str, Any]) -> None:
    text = "no captured Triton variant of _mixed_norm for this launch: X: *bf16 (16-aligned false) … "
    (answer,) = answers(text, lacking, planning)
    assert answer.asking is not None and "a call of Tri.sample" in answer.asking.rounds


def test_explain_with_nothing_but_the_log() -> None:
    (answer,) = answers(WHOLE)
    assert (answer.missing, answer.near, answer.asking) == ([], [], None)
    assert answer.command == "zig build -Dcapture=true -Dparallel=N -Dwindow-rows=ROWS"
    assert answer.notes == [
        "name the engine's set with --set, to see which variants there are",
        "name the family's profile with --profile, to see which rounds ask for it",
    ]


@pytest.mark.parametrize(("held", "value", "fits"), [
    ({"none": True}, "None", True), ({"none": True}, "null", True), ({"none": True}, "3", False), ({"int": 3}, "None", False),
    ({"int": 3}, "3", True), ({"int": 1}, "true", True), ({"int": 3}, "0.5", False), ({"f32": 0x3F000000}, "0.5", True),
    ({"f32": 0x3F000000}, "None", False), ({"f32": 0x3F000000}, "1e99", False), (None, "None", False), (None, "3", False),
])  # fmt: skip
def test_explain_compares_constexprs_of_every_kind(captured: Path, tmp_path: Path, held: dict[str, Any] | None, value: str, fits: bool) -> None:
    kernels = json.loads((captured / "aot.json").read_text())["kernels"]
    fields = ("fn", "hash", "name", "num_warps", "params", "consts")
    own = [{name: kernel[name] for name in fields} for kernel in kernels if kernel["fn"] == "_mixed_attend"]
    for kernel in own:
        kernel["params"] = [{name: param[name] for name in ("name", "type", "div16", "nospec")} for param in kernel["params"]]
        kernel["consts"] |= {"MASK": held} if held else {}
    (tmp_path / "aot.json").write_text(json.dumps({"kernels": own}))
    (answer,) = answers(WHOLE.replace("info:", f"  constexpr MASK = {value}\ninfo:"), tmp_path)
    assert (not answer.near[0].differences) == fits, answer.near[0]
    assert fits or "MASK" in answer.near[0].differences[0]


def test_explain_a_log_that_ends_too_early(captured: Path) -> None:
    for lines in (2, 3, 4):
        (answer,) = answers("".join(WHOLE.splitlines(keepends=True)[:lines]), captured)
        assert answer.notes[0] == "the log ends with lines of this launch, perhaps inside of one: what may be left out is taken to fit"
        assert any(note.startswith("as far as the log shows it, this set serves the launch") for note in answer.notes)


def test_explain_a_set_that_serves_the_launch(captured: Path) -> None:
    (answer,) = answers(WHOLE, captured)
    assert any("this set serves the launch, with variant" in note for note in answer.notes)
    assert answer.command == ""


def test_explain_names_a_cubin_once(captured: Path, tmp_path: Path) -> None:
    manifest = of_another_tool(json.loads((captured / "aot.json").read_text()))
    first = next(kernel for kernel in manifest["kernels"] if serves_rows(kernel))
    far = {**first, "params": [param for param in first["params"] if param["name"] != "TABLE"]}
    (tmp_path / "aot.json").write_text(json.dumps({**manifest, "kernels": [far, first]}))
    (answer,) = answers(WHOLE.replace("(16-aligned false)", "(16-aligned true)").replace("W: i32 2", "W: i32 16"), tmp_path)
    assert [(near.hash, near.differences) for near in answer.near] == [(first["hash"], ["W is any there, 16 (div16) here"])]


def test_explain_a_set_without_the_function(captured: Path) -> None:
    (answer,) = answers(WHOLE.replace("_mixed_attend", "_mixed_atend"), captured)
    assert "the set has no variant of _mixed_atend at all; did you mean _mixed_attend or _mixed_norm" in answer.notes[0]


def test_explain_a_fallback(captured: Path) -> None:
    kernel = next(kernel for kernel in read_set(captured).captured.kernels if kernel.fn == "_mixed_attend")
    line = "_mixed_attend: a launch whose specialization no captured variant has runs variant {} (assumes less)"
    (answer,) = answers(line.format(kernel.hash[:12]), captured)
    assert answer.near[0].hash == kernel.hash and answer.near[0].differences[0].startswith("it assumes ")
    (answer,) = answers(line.format("0" * 12), captured)
    assert not answer.near and "this set holds no variant 000000000000: the engine ran another set" in answer.notes


def test_explain_an_ambiguity(captured: Path, tmp_path: Path) -> None:
    manifest = of_another_tool(json.loads((captured / "aot.json").read_text()))
    first = next(kernel for kernel in manifest["kernels"] if kernel["fn"] == "_mixed_attend")
    (tmp_path / "aot.json").write_text(json.dumps({**manifest, "kernels": [*manifest["kernels"], {**first, "num_warps": 8, "hash": "other"}]}))
    (answer,) = answers("several captured Triton variants of _mixed_attend match; pin num_warps/num_stages (Launch)", tmp_path)
    assert {near.hash for near in answer.near} == {first["hash"], "other"}
    assert answer.command == ""  # Capturing more makes nothing clear.
    assert {near.differences[0].split(",")[0] for near in answer.near} == {"warps 4", "warps 8"}


@pytest.mark.parametrize(
    ("spans", "want"),
    [
        ([Span("decode", 1, 2, 15)], ["decode rounds of 2..15 rows, with 1 stream"]),
        ([Span("decode", 2, 2, 15), Span("decode", 3, 3, 15), Span("decode", 2, 17, 31)], ["decode rounds of 2..15, 17..31 rows, from 2 streams on"]),
        ([Span("decode", 1, 1, 1), Span("decode", 2, 2, 2)], ["decode rounds of 1..2 rows, from 1 stream on"]),
        ([Span("decode", 3, 3, 3), Span("decode", 7, 7, 7)], ["decode rounds of 3, 7 rows, with 3, 7 streams"]),
        ([Span("decode", 16, 16 * n, 16 * n) for n in range(1, 17)], ["decode rounds of 16, 32, …, 256 rows, with 16 streams"]),
        ([Span("prompt", 1, 2, 15), Span("prompt", 1, 17, 31)], ["prompt chunks of 2..15, 17..31 rows"]),
        ([], []),
    ],
)
def test_show_spans(spans: list[Span], want: list[str]) -> None:
    assert list(show_spans(spans)) == want


def command(*arguments: str | Path, log: str) -> subprocess.CompletedProcess[str]:
    """Run `build-capture explain` on a log from standard input."""
    return subprocess.run([sys.executable, ROOT / "build_capture", "explain", *arguments], input=log, capture_output=True, text=True, check=False)


def test_explain_exit_codes(lacking: Path, tmp_path: Path) -> None:
    found = command("--set", lacking, log=WHOLE)
    assert found.returncode == 3 and "missing  W: i32 2 (any); variants are there for one" in found.stdout, found.stdout + found.stderr
    # A check that checked nothing is none.
    nothing = command(log="info: all is well\n")
    assert nothing.returncode == 2 and "standard input: error: nothing in 1 line tells of a launch without a variant" in nothing.stderr
    coverage = command(log="src/triton.zig:12: error: no captured variant of _mixed_attend for a launch\n    W: i32 16 (div16)\n    try: zig build\n")
    assert coverage.returncode == 2 and "standard input: error: this is the coverage test's output, not an engine's log" in coverage.stderr, coverage.stderr
    # What to capture for may be said without a set, and has to be the set's.
    assert "-Dcapture-target=sm_90\n" in command("--target", "sm90", log=WHOLE).stdout
    other = command("--target", "sm_90", "--set", lacking, log=WHOLE)
    assert other.returncode == 3 and "have sm121, need sm90" in other.stderr, other.stderr
    assert command("--target", "", log=WHOLE).returncode == 2
    ends = command("--json", log="reason=error (MissingTritonVariant) prompt=1\n")
    assert ends.returncode == 3 and json.loads(ends.stdout)["requests"] == 1
    assert command(tmp_path / "absent.log", log="").returncode == 2
