"""Mode `gpu` on a GPU that is made up: what is recorded through Triton's hooks, and what is found wrong."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from build_capture.capture.compile import Variant
from build_capture.capture.gpu.records import Answer, Launched, Specialization
from build_capture.capture.gpu.verify import rounded, verify
from build_capture.errors import CaptureError, Exit
from build_capture.plan.needs import Class, Constant, Options
from tests.capture.conftest import need
from tests.capture.launching import BROKEN, EXAMPLES, FAULTY, NEEDS, ROOT, Good, launching


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
    assert (add.function, add.needs, add.launched, add.verified, add.launches, add.output, add.error, add.limit) == ("_add", 3, 3, 3, 3, "OUT", 0.0, 1e-6)
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
    launched = "_add(X: *fp32, OUT: *fp32 div16, n: i32 div16) [BLOCK=int:32] warps 1, stages 2"
    assert f"_add (n=div16): its example launched {launched}, the need is _add(X: *fp32 div16" in words
    assert "_add (X=unaligned n=div16): the family has examples of this kernel, and none of this need" in words
    assert "_add (X=unaligned n=any): its example fails: ZeroDivisionError: division by zero (examples.py:" in words
    assert "serving rounds fails after 1: ValueError: no more (examples.py:" in words


def test_gpu_tells_where_a_crash_came(good: Good, tmp_path: Path) -> None:
    crash = EXAMPLES.replace("    yield make(", '    import os; os.write(2, b"a fault\\n"); os._exit(9)\n    yield make(')
    with pytest.raises(CaptureError) as raised:
        launching(tmp_path, crash, NEEDS[:1]).answer()
    assert str(raised.value) == "error: launching on the GPU failed (exit 9), at: launching _add n=one\n    a fault"


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("import no_such", "examples.py: error: importing the family's examples fails: ModuleNotFoundError: No module named 'no_such' (examples.py:1)"),
        ("EXAMPLES = {}", "examples.py: error: this module has no function examples(need, device, compact); see docs/examples.md"),
    ],
)
def test_gpu_refuses_a_module_of_examples_that_is_none(good: Good, tmp_path: Path, text: str, want: str) -> None:
    with pytest.raises(CaptureError) as raised:
        launching(tmp_path, text, NEEDS[:1]).answer()
    assert want in str(raised.value) and raised.value.code == Exit.KERNEL


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
