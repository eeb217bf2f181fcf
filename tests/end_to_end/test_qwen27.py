"""The whole way on the qwen27 family: from the example's declarations to a set, and a test that guards it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
import pytest
from elftools.elf.elffile import ELFFile

from build_capture.capture.gpu.records import Specialization
from build_capture.capture.policy.generic import mergeable, merged
from build_capture.plan.needs import Need
from build_capture.sets.match import Argument, Index, Launch, match
from build_capture.sets.read import read_set as parsed_set
from tests.end_to_end.conftest import ROOT, Example, copy_tree
from tests.end_to_end.policies import asked_of, capture, taken
from tests.package.harness import make

FUNCTIONS = {
    "_add_rmsnorm",
    "_attn_prep",
    "_embed",
    "_gate_mul",
    "_gated_norm",
    "_gdn_pre",
    "_group_sums",
    "_merge",
    "_paths",
    "_shared",
    "_swiglu",
    "_tail",
}


def read_set(folder: Path) -> dict[str, bytes]:
    """Every file of a set by its name."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_capture_installs_a_set_of_all_twelve_kernels(captured: Example) -> None:
    files = read_set(captured.installed)
    kernels = json.loads(files["aot.json"])["kernels"]
    assert {kernel["fn"] for kernel in kernels} == FUNCTIONS
    assert set(files) == {"aot.json"} | {f"cubins/{kernel['hash']}.cubin" for kernel in kernels}
    with (captured.installed / "cubins" / f"{kernels[0]['hash']}.cubin").open("rb") as stream:
        assert ELFFile(stream).header["e_flags"] >> 8 & 0xFF == 121
    assert str(captured.folder.parents[2]).encode() not in b"".join(files.values())


def test_command_line_gives_the_same_bytes_in_another_folder(captured: Example, tmp_path: Path) -> None:
    other = copy_tree(tmp_path / "another")
    out = tmp_path / "out"
    profile = other.folder / "capture.zon"
    summary = other.command_line("capture", "--profile", profile, "--parallel", "16", "--target", "sm_121", "--out", out)
    assert read_set(out) == read_set(captured.installed)
    names = ("set", "target", "mode", "needs", "variants", "cubins", "bytes", "compiled", "reused", "wall_seconds")
    assert set(names) <= set(summary)
    assert (summary["target"], summary["mode"], summary["set"]) == ("sm_121", "compile", str(out))
    assert summary["needs"] == summary["variants"] == summary["compiled"] > 30
    assert summary["bytes"] == sum(map(len, read_set(out).values()))


def test_needs_of_shared_are_those_that_the_layout_produces(captured: Example) -> None:
    document = captured.command_line("needs", "--profile", captured.folder / "capture.zon", "--parallel", "16")
    shared = [need for need in document["needs"] if need["function"] == "_shared"]
    classes = Counter()
    for need in shared:
        by_name = {parameter["name"]: parameter["class"] for parameter in need["parameters"]}
        classes[by_name["W"], by_name["STREAM"], by_name["ITEMS"]] += 1
        assert {by_name[name] for name in ("Q", "KC", "VC", "OFF", "PO", "PM", "PL")} == {"aligned"}
        assert need["witness"]["rows"] >= need["witness"]["streams"] >= 1
        assert need["options"]["num_warps"] == 4 and need["constexprs"]["CH"] == {"kind": "int", "value": 512}
    # Written out by hand from the layout. One stream: STREAM at element W, ITEMS at W + 4. Several: STREAM at
    # 11 W + S + 1, ITEMS 4 S after it. So both lie alike, and W = 1 (one stream, element 1) never lies aligned.
    assert classes == Counter(
        {
            ("one", "unaligned", "unaligned"): 1,
            ("any", "unaligned", "unaligned"): 1,
            ("any", "aligned", "aligned"): 1,
            ("div16", "unaligned", "unaligned"): 1,
            ("div16", "aligned", "aligned"): 1,
        }
    )


def test_second_build_starts_no_python_and_an_edit_does(captured: Example) -> None:
    build = ("install", "test", "-Dcapture=true", "-Dparallel=16")
    captured.zig_build("0.16", *build)
    before, files = captured.starts(), read_set(captured.installed)
    captured.zig_build("0.16", *build)
    assert captured.starts() == before
    (captured.installed / "aot.json").unlink()
    captured.zig_build("0.16", *build)
    assert captured.starts() == before and read_set(captured.installed) == files
    originals = {name: (captured.kernels / name).read_bytes() for name in ("tree.py", "sums.py")}
    # A kernel's own module, then a helper that several kernels import.
    for name, original in originals.items():
        before = captured.starts()
        (captured.kernels / name).write_bytes(original + b"\n# An edit.\n")
        captured.zig_build("0.16", *build)
        assert captured.starts() == before + 1
    for name, original in originals.items():
        (captured.kernels / name).write_bytes(original)
    captured.zig_build("0.16", *build)
    assert read_set(captured.installed) == files


def test_build_with_zig_0_17_gives_the_same_kernels(captured: Example) -> None:
    before = read_set(captured.installed)
    captured.zig_build("0.17", "install", "test", "-Dcapture=true", "-Dparallel=16")
    after = read_set(captured.installed)
    assert json.loads(after["aot.json"])["kernels"] == json.loads(before["aot.json"])["kernels"]
    starts = captured.starts()
    captured.zig_build("0.17", "install", "test", "-Dcapture=true", "-Dparallel=16")
    assert captured.starts() == starts


@pytest.mark.parametrize("release", ["0.16", "0.17"])
def test_coverage_fails_when_entries_are_deleted(captured: Example, tmp_path: Path, release: str) -> None:
    damaged = tmp_path / "damaged set"
    shutil.copytree(captured.installed, damaged)
    document = json.loads((damaged / "aot.json").read_bytes())
    kept = [k for k in document["kernels"] if k["fn"] != "_shared" or "W" not in {p["name"] for p in k["params"]}]
    assert len(kept) < len(document["kernels"])
    (damaged / "aot.json").write_text(json.dumps(document | {"kernels": kept}))
    for cubin in (damaged / "cubins").iterdir():
        if cubin.stem not in {kernel["hash"] for kernel in kept}:
            cubin.unlink()  # Otherwise the set is refused for a cubin too much.
    starts = captured.starts()
    printed = captured.zig_build(release, "test", f"-Dcapture-set={damaged}", "-Dparallel=16", ok=False)
    assert captured.starts() == starts
    for part in ("_shared", "W: i32 2", "1 stream", "STREAM: *i32 unaligned", "ITEMS: *i32", "Q: *bf16 aligned", "zig build -Dcapture=true"):
        assert part in printed, printed
    captured.zig_build(release, "test", f"-Dcapture-set={captured.installed}", "-Dparallel=16")


def test_set_of_one_stream_fails_for_two_and_the_set_for_two_passes(captured: Example, tmp_path: Path) -> None:
    profile = captured.folder / "capture.zon"
    for parallel in (1, 2):
        out = tmp_path / f"parallel {parallel}"
        captured.command_line("capture", "--profile", profile, "--parallel", str(parallel), "--window-rows", "1", "--out", out)
    checked = ("test", "-Dparallel=2", "-Dwindow-rows=1")
    printed = captured.zig_build("0.16", *checked, f"-Dcapture-set={tmp_path / 'parallel 1'}", ok=False)
    assert "_shared" in printed and "W: i32 2" in printed and "2 streams" in printed
    captured.zig_build("0.16", *checked, f"-Dcapture-set={tmp_path / 'parallel 2'}")
    captured.zig_build("0.16", "test", "-Dparallel=1", "-Dwindow-rows=1", f"-Dcapture-set={tmp_path / 'parallel 1'}")


# Record equals enumerate, without a GPU: what real rounds and examples launch through Triton, against what Zig enumerated.

LIMITS = {"parallel": 4, "window_rows": 16, "prompt_rows": 64}
"""Small enough for a test, and large enough that every class occurs."""
FEWER = LIMITS | {"parallel": 1}


@pytest.fixture(scope="module")
def needs(captured: Example) -> list[Need]:
    """What the example's declarations ask for."""
    document = captured.command_line("needs", "--profile", captured.folder / "capture.zon")
    return msgspec.convert(document["needs"], list[Need])


def generic(needs: list[Need]) -> list[Need]:
    """The last need of each kernel, as code that assumes nothing of its ints and tables."""
    return [merged(need, mergeable(need)) for need in {need.function: need for need in needs}.values()]


@pytest.fixture(scope="module")
def recorded(needs: list[Need], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What is launched: of the needs, then of the code that assumes nothing of ints and tables, one for each kernel."""
    file = tmp_path_factory.mktemp("needs") / "needs.json"
    file.write_bytes(msgspec.json.encode([*needs, *generic(needs)]))
    command = [sys.executable, "-m", "tests.kernels.recorded", str(file), json.dumps([LIMITS, FEWER])]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "2"}, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_rounds_launch_exactly_what_is_enumerated(needs: list[Need], recorded: dict[str, Any]) -> None:
    enumerated = {str(Specialization.of(need)) for need in needs}
    assert recorded["rounds"][0] > 300 and len(enumerated) == len(needs) > 30
    assert sorted(recorded["from_rounds"][0]) == sorted(enumerated)


def test_examples_launch_exactly_the_needs(needs: list[Need], recorded: dict[str, Any]) -> None:
    own = recorded["examples"][: len(needs)]
    assert own == [[str(Specialization.of(need))] for need in needs]


def test_examples_launch_code_that_assumes_less(needs: list[Need], recorded: dict[str, Any]) -> None:
    assert recorded["examples"][len(needs) :] == [[str(Specialization.of(code))] for code in generic(needs)]


def test_rounds_of_one_stream_launch_less(recorded: dict[str, Any]) -> None:
    every, fewer = map(set, recorded["from_rounds"])
    assert 0 < recorded["rounds"][1] < recorded["rounds"][0]
    assert fewer < every


def test_captured_set_passes_verify_in_every_package_and_against_its_sources(captured: Example, tmp_path: Path) -> None:
    packaged = make(tmp_path, captured.installed)
    digests = {one["digest"] for file in packaged.files for one in captured.command_line("verify", file, "--target", "sm_121")["verified"]["sets"]}
    assert len(packaged.files) == 3 and digests == {packaged.digest}
    assert is_covered(captured, captured.installed)
    checked = captured.command_line("verify", captured.installed, "--sources", captured.folder / "capture.zon")
    assert checked["sources"] > 10 and checked["verified"]["sets"][0]["digest"] == packaged.digest


def is_covered(captured: Example, folder: Path) -> bool:
    """Whether `check` finds the set whole, under the exact rule."""
    answer = captured.command_line("check", folder, "--profile", captured.folder / "capture.zon", "--parallel", "16", "--policy", "exact")
    return bool(answer["covered"])


def test_compact_serves_every_need_from_fewer_than_half_of_the_cubins(captured: Example, tmp_path: Path) -> None:
    asked = asked_of(captured)
    kernels, cost = capture(captured, "compact", tmp_path / "set")
    assert (cost["cubins"], cost["entries"], cost["apart"]) == (16, 36, [])
    assert is_covered(captured, tmp_path / "set")
    # Which tables and ints lose their hints is derived: nobody named them.
    weaker = cost["weaker"]
    assert isinstance(weaker, list)
    assert {name for each in weaker for name in each["lost"]} == {"IDS", "WIN", "SID", "STREAM", "ITEMS", "ROWS", "PARENTS", "W"}
    for kernel in taken(kernels, asked):
        assert all(p.assumes16 for p in kernel.params if p.type in ("*bf16", "*fp32")), "data keeps its hints"


def test_total_serves_what_exact_serves_with_the_same_code_and_every_w_and_table_besides(captured: Example, tmp_path: Path) -> None:
    asked = asked_of(captured)
    kernels, cost = capture(captured, "total", tmp_path / "set")
    exact = parsed_set(captured.installed).captured.kernels
    assert [each.hash for each in taken(kernels, asked)] == [each.hash for each in taken(exact, asked)]
    assert is_covered(captured, tmp_path / "set")
    assert cost["weaker"] == [] and isinstance(cost["cubins"], int) and cost["cubins"] > len(exact)
    index, tried = Index(kernels), 0
    for each in asked:
        tables = [a.name for a in each.arguments if a.type in ("*i32", "*i64")]
        whole = [a.name for a in each.arguments if a.type == "i32"]
        for addresses, value in product(product((0x7000, 0x7004), repeat=len(tables)), (0, 1, 2, 16, *range(257, 4097, 331), 4096) if whole else [0]):
            values = dict(zip(tables, addresses, strict=True)) | dict.fromkeys(whole, value)
            arguments = tuple(Argument(a.name, a.type, values.get(a.name, a.value)) for a in each.arguments)
            assert match(index, Launch(each.function, arguments, each.constexprs), "exact").kernel is not None, (each.function, values)
            tried += 1
    assert tried > 4000
