"""The check: each thing that keeps a set from being covered is found on a set that has it, and told by its round."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from build_capture.errors import CaptureError
from build_capture.pipeline.capture import capture
from build_capture.pipeline.plan import Planned, Request, plan
from build_capture.process import run_tool
from build_capture.sets.check import Checked, Finding, check_set, counts
from build_capture.sets.check_request import check
from build_capture.sets.check_show import summary_lines
from build_capture.sets.index import Index
from build_capture.sets.launch import Launch
from build_capture.sets.needed import launches_of
from build_capture.sets.read import read_set
from tests.families.harness import HERE
from tests.sets.entries import of_another_tool

DECLARATIONS = HERE / "mixed/src/triton.zig"


def attend(kernel: dict[str, Any], table_aligned: bool) -> bool:
    """Whether an entry serves W of any class and a table of that alignment."""
    params = {param["name"]: param for param in kernel["params"]}
    return kernel["fn"] == "_mixed_attend" and "W" in params and params["TABLE"]["div16"] is table_aligned


@pytest.fixture(scope="module")
def planned(planning: dict[str, Any]) -> Planned:
    """The needs of every round within the family's own limits, worked out once."""
    return plan(Request(**planning))


def findings(checked: Checked, kind: str) -> list[Finding]:
    """Those of one kind."""
    return [finding for finding in checked.findings if finding.kind == kind]


@pytest.fixture
def edited(captured: Path, tmp_path: Path) -> Callable[[Callable[[dict[str, Any]], None]], Path]:
    """Makes a copy of the set as another tool would have written it, without seals, that a function edits."""

    def copy(edit: Callable[[dict[str, Any]], None]) -> Path:
        folder = tmp_path / "edited"
        shutil.copytree(captured, folder)
        manifest = of_another_tool(json.loads((folder / "aot.json").read_text()))
        edit(manifest)
        (folder / "aot.json").write_text(json.dumps(manifest))
        return folder

    return copy


def test_whole_set_is_covered(captured: Path, planned: Planned, monkeypatch: pytest.MonkeyPatch) -> None:
    matched: list[Launch] = []
    fitting = Index.fitting
    monkeypatch.setattr(Index, "fitting", lambda index, launch: matched.append(launch) or fitting(index, launch))
    checked = check_set(read_set(captured), planned, "exact")
    assert matched == [launch for _, launch in launches_of(planned)], "each launch is looked up once"
    assert checked.covered and (checked.needs, checked.served, checked.entries, checked.cubins) == (8, 8, 8, 8)
    assert checked.findings == [] and checked.notes == []
    assert list(summary_lines(checked)) == [
        *("8 of 8 needs served by 8 entries; 8 cubins opened", "limits: 2 streams, 2 rows a window", f"covered: {captured} for sm_121")
    ]


@pytest.mark.parametrize("rule", ["exact", "pinned"])
def test_missing_need_is_told_with_its_round_and_the_nearest_entry(without: Callable[..., Path], planned: Planned, rule: Any) -> None:
    checked = check_set(read_set(without(lambda kernel: attend(kernel, table_aligned=True))), planned, rule)
    (missing,) = findings(checked, "missing")
    assert not checked.covered and checked.served == 7
    assert missing.what.startswith("_mixed_attend(") and "TABLE: *i32 aligned" in missing.what
    assert "TABLE is unaligned there, aligned here" in missing.why
    assert (missing.witness, missing.launches) == ("2 streams, 4 rows (2+2)", 1)


def test_set_of_today_s_capture_lacks_two_streams(captured: Path, planning: dict[str, Any], tmp_path: Path) -> None:
    capture(Request(**{**planning, "parallel": 1, "window_rows": 1}), tmp_path / "set", depfile=None, jobs=2, progress=lambda *_: None)
    assert check(tmp_path / "set", "exact", None, Request(**{**planning, "parallel": 1, "window_rows": 1})).covered
    checked = check(tmp_path / "set", "exact", None, Request(**{**planning, "window_rows": 1}))
    missing = findings(checked, "missing")
    assert [finding.witness for finding in missing if finding.what.startswith("_mixed_attend")] == ["2 streams, 2 rows (1+1)"]
    assert list(summary_lines(checked))[-4:] == [
        "limits: 2 streams, 1 row a window",
        "the set was captured for parallel 1, window rows 1",
        "capture: zig build -Dcapture=true -Dparallel=2 -Dwindow-rows=1 -Dcapture-target=sm_121",
        "NOT covered",
    ]


def test_more_general_code_serves_a_fallback_engine_and_is_told(without: Callable[..., Path], planned: Planned) -> None:
    folder = without(lambda kernel: attend(kernel, table_aligned=True))
    checked = check_set(read_set(folder), planned, "fallback")
    (general,) = findings(checked, "general")
    assert checked.covered and "which assumes less, serves it" in general.why


def test_entries_that_differ_only_in_warps_are_ambiguous_whatever_their_order(edited: Callable[..., Path], planned: Planned, tmp_path: Path) -> None:
    def twice(manifest: dict[str, Any]) -> None:
        (kernel,) = (kernel for kernel in manifest["kernels"] if attend(kernel, table_aligned=True))
        manifest["kernels"].insert(0, {**kernel, "num_warps": 8})

    folder = edited(twice)
    (ambiguous,) = findings(check_set(read_set(folder), planned, "exact"), "ambiguous")
    assert "num_warps is 8 in" in ambiguous.why and "the launch does not tell which" in ambiguous.why
    manifest = json.loads((folder / "aot.json").read_text())
    (folder / "aot.json").write_text(json.dumps({**manifest, "kernels": manifest["kernels"][::-1]}))
    assert findings(check_set(read_set(folder), planned, "pinned"), "ambiguous")[0].why.startswith("num_warps is")


def test_constexpr_that_no_launch_names_is_ambiguous(edited: Callable[..., Path], planned: Planned) -> None:
    def flag(manifest: dict[str, Any]) -> None:
        (kernel,) = (kernel for kernel in manifest["kernels"] if attend(kernel, table_aligned=True))
        manifest["kernels"].append({**kernel, "consts": {**kernel["consts"], "FLAG": {"int": 3}}})
        kernel["consts"]["FLAG"] = {"none": True}

    (ambiguous,) = findings(check_set(read_set(edited(flag)), planned, "exact"), "ambiguous")
    assert "FLAG is none:None" in ambiguous.why and "int:3" in ambiguous.why


def test_entry_that_no_need_uses_is_told_and_fails_nothing(captured: Path, planning: dict[str, Any]) -> None:
    checked = check(captured, "exact", None, Request(**{**planning, "window_rows": 1, "parallel": 1}))
    assert checked.covered and counts(checked) == {"unused": 3}
    assert all("no round within the limits asks for it" in finding.why for finding in checked.findings)


def test_aliases_for_further_launches_are_no_waste(planned: Planned, planning: dict[str, Any], tmp_path: Path) -> None:
    capture(Request(**planning), tmp_path / "set", depfile=None, jobs=2, progress=lambda *_: None, policy="total")
    checked = check_set(read_set(tmp_path / "set"), planned, "exact")
    assert checked.covered and counts(checked).keys() == {"alias"}


def test_other_tool_s_set_is_checked_and_told(edited: Callable[..., Path], planned: Planned) -> None:
    checked = check_set(read_set(edited(lambda manifest: None)), planned, "exact")
    assert checked.covered and "another tool (another) wrote this set" in checked.notes[0]


def test_cubin_that_is_damaged_or_gone_is_named(captured: Path, planned: Planned, tmp_path: Path) -> None:
    folder = tmp_path / "set"
    shutil.copytree(captured, folder)
    first, second = sorted((folder / "cubins").iterdir())[:2]
    first.write_bytes(first.read_bytes()[:-1] + b"\xff")
    second.unlink()
    checked = check_set(read_set(folder), planned, "exact")
    lines = list(summary_lines(checked))
    assert lines[0].endswith("8 cubins opened; 2 damaged cubins") and not any("capture" in line for line in lines[1:-1]) and lines[-1] == "NOT covered"
    assert next(summary_lines(msgspec.structs.replace(checked, findings=checked.findings[:1]))).endswith("; 1 damaged cubin")
    found = {finding.what: finding.why for finding in findings(checked, "cubin")}
    assert found.keys() == {f"cubins/{first.name}", f"cubins/{second.name}"}
    assert found[f"cubins/{first.name}"].startswith("its bytes are not those that aot.json records")
    assert found[f"cubins/{second.name}"] == "there is no such file"


def test_set_for_another_gpu_is_refused(captured: Path, planning: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="have sm121, need sm120") as caught:
        check(captured, "exact", None, Request(**{**planning, "target": "sm_120"}))
    assert caught.value.code == 3
    for name in ("sm120", "sm90"):
        shutil.copytree(captured, tmp_path / f"share/mixed/cuda/{name}")
    with pytest.raises(CaptureError, match="have sm120, sm90, need sm121"):
        check(tmp_path, "exact", None, Request(**{**planning, "target": "sm_121"}))
    with pytest.raises(CaptureError, match="unknown target ''"):
        check(captured, "exact", None, Request(**{**planning, "target": ""}))
    shutil.copytree(captured, tmp_path / "share/other/cuda/sm90")
    with pytest.raises(CaptureError, match="2 sets for sm_90 are installed here: share/mixed/cuda/sm90, share/other/cuda/sm90"):
        check(tmp_path, "exact", None, Request(**{**planning, "target": "sm_90"}))


def test_empty_set_is_not_covered(edited: Callable[..., Path], planned: Planned) -> None:
    empty = check_set(read_set(edited(lambda manifest: manifest["kernels"].clear())), planned, "exact")
    assert not empty.covered and empty.served == 0 and len(findings(empty, "missing")) == 8
    assert not msgspec.structs.replace(empty, findings=[]).covered


def test_declarations_alone_find_entries_of_other_arguments(captured: Path, edited: Callable[..., Path], planning: dict[str, Any]) -> None:
    checked = check(captured, "exact", DECLARATIONS, Request(**planning))
    assert checked.covered and checked.needs == 2 and "no profile was given" in checked.notes[0]

    def rename(manifest: dict[str, Any]) -> None:
        for kernel in manifest["kernels"]:
            for param in kernel["params"]:
                if param["name"] == "TABLE":
                    param.update(name="TABLES", type="*i64")

    (missing,) = findings(check(edited(rename), "exact", DECLARATIONS, Request(**planning)), "missing")
    assert missing.what.startswith("_mixed_attend (triton.zig:")
    assert missing.why == "no param TABLE there; TABLES is a param there, not given here"


def test_declarations_alone_find_entries_of_another_constexpr(edited: Callable[..., Path], planning: dict[str, Any], tmp_path: Path) -> None:
    def name(manifest: dict[str, Any]) -> None:
        for kernel in manifest["kernels"]:
            if kernel["fn"] == "_mixed_attend":
                kernel["consts"]["D"] = {"int": 32}

    folder = edited(name)
    for value, want in ((32, []), (64, ["D is 32 there, 64 here"])):
        file = tmp_path / "triton.zig"
        file.write_text(DECLARATIONS.read_text().replace("}, &.{});", f'}}, &.{{aot.ci("D", {value})}});', 1))
        assert [one.why for one in findings(check(folder, "exact", file, Request(**planning)), "missing")] == want


def test_command_line_tells_and_exits_with_three(without: Callable[..., Path], captured: Path, planning: dict[str, Any]) -> None:

    folder = without(lambda kernel: attend(kernel, table_aligned=True))
    options = ["--profile", planning["profile"], "--zig", planning["zig"], "--cache-dir", planning["cache"]]
    run_tool([sys.executable, "-m", "build_capture", "check", captured, *options], what="checking")
    finished = subprocess.run([sys.executable, "-m", "build_capture", "check", folder, *map(str, options), "--json"], capture_output=True, text=True)
    assert finished.returncode == 3
    answer = json.loads(finished.stdout)
    assert answer["covered"] is False and answer["checked"]["findings"][0]["kind"] == "missing"
