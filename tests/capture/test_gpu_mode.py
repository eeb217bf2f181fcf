"""Mode `gpu` without a GPU: what is recorded through Triton's hooks, what is found wrong, and what is said where a GPU lacks."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from build_capture.capture.compile import Variant, describe_kernels
from build_capture.capture.gpu import mode as mode_module
from build_capture.capture.gpu.device import Device
from build_capture.capture.gpu.launch import launch_needs
from build_capture.capture.gpu.mode import choose_mode, look_for_device
from build_capture.capture.gpu.records import Answer, Launched, Specialization
from build_capture.capture.gpu.verify import GpuRecord, rounded, verify
from build_capture.capture.records import Description, Kernel
from build_capture.errors import CaptureError, Exit
from build_capture.plan.needs import Class, Constant, Need, Options
from build_capture.read.profile import Limits
from build_capture.targets import parse_target
from tests.capture.conftest import ADD, HELPER, SCALE, Family, need

ROOT = Path(__file__).resolve().parents[2]

EXAMPLES = '''"""Examples of _add; _scale has none."""

from dataclasses import dataclass
from typing import Any

import torch

import add

COUNTS = {"one": 1, "div16": 32, "any": 30}
LAUNCHED = [("one", True), ("div16", True), ("any", False)]


@dataclass
class Example:
    grid: tuple
    arguments: dict
    check: Any


@dataclass
class Compared:
    what: str
    error: float
    limit: float


def place(values, aligned):
    room = torch.empty(len(values) + 1, dtype=torch.float32)
    placed = room[0 if aligned else 1:][:len(values)]
    return placed.copy_(values)


def make(count, aligned, device):
    assert device == "cpu"
    x, out = place(torch.arange(32.0), aligned), torch.full((32,), float("nan"))
    want = x[:count] + 1
    check = lambda: [Compared("OUT", float((out[:count] - want).norm() / want.norm()), 1e-6)]
    return Example((1,), {"X": x, "OUT": out, "n": count}, check)


def examples(need, device, compact):
    if need["function"] != "_add":
        return
    classes = {each["name"]: each["class"] for each in need["parameters"]}
    yield make(COUNTS[classes["n"]], classes["X"] == "aligned", device)


def rounds(limits, device):
    for name, aligned in LAUNCHED * limits["parallel"]:
        example = make(COUNTS[name], aligned, device)
        add._add[example.grid](**example.arguments, BLOCK=32, num_warps=1, num_stages=2)
        yield name
'''

BROKEN = EXAMPLES.replace(
    "    yield make(",
    """    if (classes["n"], classes["X"]) == ("div16", "unaligned"):
        return
    faults = {
        ("one", "aligned"): lambda: [Compared("OUT", 0.25, 1e-6), Compared("fine", 0.0, 1e-6)],
        ("one", "unaligned"): lambda: [Compared("OUT", float("nan"), 1e-6)],
        ("any", "aligned"): lambda: [],
    }
    if (classes["n"], classes["X"]) == ("any", "unaligned"):
        1 / 0
    if (classes["n"], classes["X"]) == ("div16", "aligned"):
        yield make(32, False, device)
        return
    example = make(COUNTS[classes["n"]], classes["X"] == "aligned", device)
    example.check = faults[classes["n"], classes["X"]]
    yield example
    return
    yield make(""",
).replace("        yield name\n", "        yield name\n        raise ValueError('no more')\n")
"""Every need has another fault, and the rounds end early."""

NEEDS = [need("_add", Class.ONE), need("_add", Class.DIV16), need("_add", Class.ANY, aligned=False), need("_scale", Class.ANY)]
FAULTY = [need("_add", n, aligned=aligned) for n in (Class.ONE, Class.DIV16, Class.ANY) for aligned in (True, False)]


@dataclass
class Launching:
    """A family with examples, launched on a GPU that is made up."""

    family: Family
    needs: list[Need]

    @property
    def description(self) -> Description:
        """The kernels."""
        return describe_kernels(self.family.folder, sorted({n.function for n in self.needs}), parse_target("sm_90"), self.family.cache)

    def answer(self, values: Path | None = None) -> Answer:
        """Launch everything."""
        report = lambda done, total, title: self.family.progress.append((done, total, title))  # noqa: E731
        return launch_needs(
            self.needs,
            self.description.kernels,
            self.family.folder,
            Limits(2, 1, 0),
            parse_target("sm_90"),
            cache=self.family.cache,
            values=values,
            progress=report,
            worker=(sys.executable, "-m", "tests.capture.fake_gpu", "90"),
            device="cpu",
        )


def launching(folder: Path, examples: str, needs: list[Need]) -> Launching:
    """The family of conftest with examples."""
    kernels = folder / "a family"
    kernels.mkdir()
    for name, text in (("scale.py", SCALE), ("helper.py", HELPER), ("add.py", ADD), ("examples.py", examples)):
        (kernels / name).write_text(text)
    return Launching(Family(kernels, folder / "cache", "sm_90"), needs)


@dataclass
class Good:
    """A capture in which all is well."""

    launching: Launching
    answer: Answer
    variants: list[Variant]
    kernels: list[Kernel]
    values: Path

    def verify(self, answer: Answer | None = None) -> GpuRecord:
        """Compare."""
        return verify(self.variants, [], answer or self.answer, self.kernels, self.launching.family.folder, "a GPU")

    def refused(self, answer: Answer) -> str:
        """What is said of an answer; it is a fault of the kernels."""
        with pytest.raises(CaptureError) as raised:
            self.verify(answer)
        assert raised.value.code == Exit.KERNEL
        return str(raised.value)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Good]:
    """Launched and compiled once."""
    folder = tmp_path_factory.mktemp("good")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        mine = launching(folder, EXAMPLES, NEEDS)
        answer = mine.answer(folder / "values")
        yield Good(mine, answer, mine.family.compile(NEEDS).variants, mine.description.kernels, folder / "values")


def test_gpu_launches_and_records_what_was_enumerated(good: Good) -> None:
    record = good.verify()
    add, scale = record.kernels
    assert (add.function, add.needs, add.launched, add.launches, add.output, add.error, add.limit) == ("_add", 3, 3, 3, "OUT", 0.0, 1e-6)
    assert (scale.needs, scale.launched, scale.launches) == (1, 0, 0)
    assert record.not_launched == ["_scale"]
    assert (record.recorded, record.enumerated, record.differences) == (3, 3, 0)
    assert (record.rounds, record.round_launches, record.round_specializations, record.round_kernels) == (6, 6, 3, ["_add"])
    titles = [title for _, total, title in good.launching.family.progress if total == 5]
    assert titles[0] == "launching _add n=one" and titles[-1] == "6 rounds"


def test_gpu_records_the_hash_and_the_bytes_of_a_compile_without_it(good: Good) -> None:
    recorded = [launched.recorded for launched in good.answer.launched]
    assert [len(each) for each in recorded] == [1, 1, 1, 0]
    for (seen,), variant in zip(recorded[:3], good.variants):
        # Once for its numbers, once for the values.
        assert (seen.hash, seen.cubin_sha256, seen.launches) == (variant.result.hash, variant.result.cubin_sha256, 2)
        assert seen.specialization == Specialization.of(variant.need)


@pytest.mark.parametrize(("name", "what"), [("hash", "hash"), ("cubin_sha256", "bytes")])
def test_gpu_refuses_a_launched_cubin_that_is_not_the_compiled_one(good: Good, name: str, what: str) -> None:
    first = good.answer.launched[0]
    other = msgspec.structs.replace(first, recorded=[msgspec.structs.replace(first.recorded[0], **{name: "0" * 64})])
    words = good.refused(msgspec.structs.replace(good.answer, launched=[other, *good.answer.launched[1:]]))
    assert f"_add (n=one): what was launched is not what was compiled without the GPU: its cubin has another {what}" in words


def test_gpu_refuses_an_example_that_triton_tells_nothing_of(good: Good) -> None:
    silent = msgspec.structs.replace(good.answer.launched[0], recorded=[])
    words = good.refused(msgspec.structs.replace(good.answer, launched=[silent, *good.answer.launched[1:]]))
    assert "_add (n=one): Triton told of no launch while its example ran" in words


def test_gpu_shows_what_rounds_launch_and_no_declaration_asks_for(good: Good) -> None:
    other = msgspec.structs.replace(good.answer.from_rounds[0].specialization, options=Options(8, 2))
    strange = msgspec.structs.replace(good.answer.from_rounds[0], specialization=other)
    words = good.refused(msgspec.structs.replace(good.answer, from_rounds=[*good.answer.from_rounds, strange]))
    assert "a round launched _add(X: *fp32 div16, OUT: *fp32 div16) [BLOCK=int:32, n=int:1] warps 8, stages 2 2 times, and no declaration asks for it" in words
    assert words.count("error:") == 1


def test_gpu_shows_what_declarations_ask_for_and_no_round_launches(good: Good) -> None:
    fewer = msgspec.structs.replace(good.answer, from_rounds=good.answer.from_rounds[1:])
    words = good.refused(fewer)
    assert "none of 6 rounds launched _add(X: *fp32 div16, OUT: *fp32 div16) [BLOCK=int:32, n=int:1] warps 1, stages 2, which the declarations ask for" in words
    assert words.count("error:") == 1


def test_gpu_leaves_needs_of_calls_to_their_examples(good: Good) -> None:
    fewer = msgspec.structs.replace(good.answer, from_rounds=good.answer.from_rounds[1:])
    called = [msgspec.structs.replace(v, need=msgspec.structs.replace(v.need, launches_of_calls=v.need.launches)) for v in good.variants]
    assert verify(called, [], fewer, good.kernels, good.launching.family.folder, "a GPU").round_specializations == 2


def test_gpu_checks_further_code_that_no_declaration_asks_for(good: Good) -> None:
    # As if the third need's code had been added by a policy.
    folder, fewer = good.launching.family.folder, msgspec.structs.replace(good.answer, from_rounds=good.answer.from_rounds[:2])
    answer = msgspec.structs.replace(fewer, launched=[*(fewer.launched[place] for place in (0, 1, 3, 2))])
    variants, further = [good.variants[place] for place in (0, 1, 3)], good.variants[2:3]
    record = verify(variants, further, answer, good.kernels, folder, "a GPU")
    assert (record.kernels[0].needs, record.kernels[0].launched, record.kernels[0].further) == (2, 2, 1)
    assert (record.recorded, record.enumerated) == (2, 2)
    wrong = [msgspec.structs.replace(further[0], result=variants[0].result)]
    with pytest.raises(CaptureError, match="what was launched is not what was compiled"):
        verify(variants, wrong, answer, good.kernels, folder, "a GPU")


def test_gpu_refuses_a_family_with_no_example_at_all(good: Good) -> None:
    nothing = Answer([Launched([], []) for _ in NEEDS], 0, [])
    with pytest.raises(CaptureError, match="nothing was launched: the family has no example of any kernel"):
        good.verify(nothing)


def test_gpu_names_kernel_need_and_fault_of_each_example(good: Good, tmp_path: Path) -> None:
    mine = launching(tmp_path, BROKEN, FAULTY)
    answer = mine.answer()
    variants = [Variant(each, good.variants[0].result, b"") for each in FAULTY]
    with pytest.raises(CaptureError) as raised:
        verify(variants, [], answer, good.kernels, mine.family.folder, "a GPU")
    words = str(raised.value)
    assert "add.py:7: error: _add (n=one): wrong numbers in OUT: error 2.5e-01, at most 1.0e-06 (grid 1 n=1)" in words
    assert "in fine" not in words
    assert "_add (X=unaligned n=one): wrong numbers in OUT: error not finite, at most 1.0e-06 (grid 1 n=1)" in words
    assert "_add (n=any): its example compares nothing (grid 1 n=30)" in words
    assert "_add (n=div16): its example launched _add(X: *fp32, OUT: *fp32 div16, n: i32 div16) [BLOCK=int:32] warps 1, stages 2, the need is _add(X: *fp32 div16" in words
    assert "_add (X=unaligned n=div16): the family has examples of this kernel, and none of this need" in words
    assert "_add (X=unaligned n=any): its example fails: ZeroDivisionError: division by zero (examples.py:" in words
    assert "serving rounds fails after 1: ValueError: no more (examples.py:" in words


def test_gpu_tells_where_a_crash_came(good: Good, tmp_path: Path) -> None:
    crash = EXAMPLES.replace("    yield make(", '    import os; os.write(2, b"a fault\\n"); os._exit(9)\n    yield make(')
    with pytest.raises(CaptureError) as raised:
        launching(tmp_path, crash, NEEDS[:1]).answer()
    assert str(raised.value) == "error: launching on the GPU failed (exit 9), at: launching _add n=one\n    a fault"


def test_values_hold_every_launch_bit_for_bit(good: Good) -> None:
    document = msgspec.json.decode((good.values / "values.json").read_bytes())
    data = (good.values / "values.bin").read_bytes()
    assert document["target"] == "sm_90" and len(document["launches"]) == 3
    for launch, asked in zip(document["launches"], NEEDS):
        assert (launch["fn"], launch["identity"], launch["grid"]) == ("_add", asked.identity, [1, 1, 1])
        assert (launch["num_warps"], launch["num_stages"], launch["constexprs"]) == (1, 2, [{"name": "BLOCK", "int": 32}])
        source, out, count = launch["arguments"]
        classes = {p.name: p.class_ for p in asked.parameters}
        assert (source["name"], source["type"], source["buffer"]) == ("X", "*fp32", 0)
        assert source["offset"] == (0 if classes["X"] is Class.ALIGNED else 4)
        assert count == {"name": "n", "type": "i32", "value": {"one": 1, "div16": 32, "any": 30}[classes["n"].value]}
        before, after = (floats(data, launch["buffers"][0][side], 32, source["offset"]) for side in ("before", "after"))
        assert before == after == [float(value) for value in range(32)]
        poisoned, got = (floats(data, launch["buffers"][1][side], 32) for side in ("before", "after"))
        assert all(value != value for value in poisoned)
        assert got[: count["value"]] == [value + 1.0 for value in range(count["value"])]
    # Equal contents are there once: the three poisoned outputs are.
    places = [buffer[side] for launch in document["launches"] for buffer in launch["buffers"] for side in ("before", "after")]
    assert len(places) == 12 and len(set(places)) < 12


def floats(data: bytes, place: int, count: int, offset: int = 0) -> list[float]:
    """fp32 values of a buffer."""
    return list(memoryview(data[place + offset : place + offset + 4 * count]).cast("f"))


def test_specialization_reads_the_same_for_a_float_of_either_width() -> None:
    narrow, wide = Constant("f32", 0x3D800000), Constant("f64", 0x3FB0000000000000)
    asked = need("_add", Class.ANY)
    assert len({str(Specialization.of(msgspec.structs.replace(asked, constexprs={"SCALE": each}))) for each in (narrow, wide)}) == 1
    kinds = (Constant("int", 1), Constant("bool", True), Constant("f64", 0x3FF0000000000000), Constant("none", None))
    assert len({str(Specialization.of(msgspec.structs.replace(asked, constexprs={"SCALE": each}))) for each in kinds}) == 4


@pytest.mark.parametrize(("value", "want"), [(0.0, 0.0), (0.00171234, 0.0017), (2.66e-9, 2.7e-9), (0.996, 1.0), (123.0, 120.0)])
def test_rounded_keeps_two_digits(value: float, want: float) -> None:
    assert rounded(value) == want


H200 = Device("NVIDIA H200", 90)


def choose(asked: str, device: Device, target: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> mode_module.Mode:
    """The mode that a capture takes."""
    monkeypatch.setattr(mode_module, "find_device", lambda to_launch: device)
    return choose_mode(asked, look_for_device(asked), parse_target(target), folder)


def test_mode_auto_takes_the_gpu_of_the_target(good: Good, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = choose("auto", H200, "sm_90", good.launching.family.folder, monkeypatch)
    assert (taken.name, taken.why, taken.device) == ("gpu", "NVIDIA H200 (sm_90) is at hand", "NVIDIA H200")
    assert choose("gpu", H200, "sm_90", good.launching.family.folder, monkeypatch).why == ""
    assert choose("compile", H200, "sm_90", good.launching.family.folder, monkeypatch).name == "compile"


@pytest.mark.parametrize(
    ("device", "target", "examples", "why", "code"),
    [
        (H200, "sm_121", True, "the GPU at hand, NVIDIA H200, is sm_90 and the target sm_121", Exit.TOOL),
        (Device("NVIDIA H200", 90, "no torch in python"), "sm_90", True, "no torch in python", Exit.TOOL),
        (Device(lacks="no GPU (the CUDA driver shows none)"), "sm_90", True, "no GPU (the CUDA driver shows none)", Exit.TOOL),
        (H200, "sm_90", False, "good0 has no examples.py, so that nothing would be launched", Exit.INPUT),
    ],
)
def test_mode_says_what_lacks(
    good: Good, monkeypatch: pytest.MonkeyPatch, device: Device, target: str, examples: bool, why: str, code: Exit
) -> None:
    folder = good.launching.family.folder
    if not examples:
        folder = folder.parent
    taken = choose("auto", device, target, folder, monkeypatch)
    assert (taken.name, taken.why) == ("compile", why)
    with pytest.raises(CaptureError, match="cannot launch on a GPU: ") as raised:
        choose("gpu", device, target, folder, monkeypatch)
    assert why in str(raised.value) and raised.value.code == code


def command_line(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `build-capture capture` where CUDA shows no GPU, even if there is one."""
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    command = [sys.executable, str(ROOT / "build_capture"), "capture", "--out", "out", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def test_command_line_without_a_gpu_exits_4_and_says_so() -> None:
    finished = command_line("--mode", "gpu", "--profile", "absent.zon")
    assert finished.returncode == Exit.TOOL, finished.stderr
    (line,) = finished.stderr.splitlines()
    assert line.startswith(("error: cannot launch on a GPU: no CUDA driver", "error: cannot launch on a GPU: no GPU"))


def test_command_line_refuses_values_without_launches() -> None:
    finished = command_line("--values", "values")
    assert finished.returncode == Exit.INPUT
    assert "--values needs --mode gpu" in finished.stderr
