"""What went wrong for people who capture kernels, each report a test of what happens here instead."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from build_capture.errors import CaptureError
from build_capture.pipeline.capture import capture
from build_capture.pipeline.plan import Request
from tests.families.harness import Family
from tests.families.tiny import write_tiny

Tiny = Callable[..., Family]


def classes(family: Family, parallel: int | None = None) -> set[str]:
    """The classes of the first argument over the needs of a tiny family."""
    return {str(need.parameters[0].class_.value) for need in family.plan(parallel).needs if need.parameters[0].class_}


def refusal(family: Family) -> str:
    """The message with which planning refuses a family."""
    with pytest.raises(CaptureError) as raised:
        family.plan()
    return str(raised.value)


def test_r02_r47_parameters_keep_their_names_and_types_at_any_index(family: Callable[[str], Family], tmp_path: Path) -> None:
    wide = family("wide")
    request = Request(wide.folder / "capture.zon", None, None, target=None, zig=wide.zig, reader=None, cache=wide.cache)
    capture(request, tmp_path / "set", depfile=None, jobs=2, progress=lambda *_: None)
    kernels = json.loads((tmp_path / "set" / "aot.json").read_text(encoding="utf-8"))["kernels"]
    assert len(kernels) == 12
    order = "P0 N1 P2 P3 P4 P5 P6 P7 P8 SEED N10 N11 N12 OUT".split()
    seen = set()
    for kernel in kernels:
        there = {parameter["name"]: parameter for parameter in kernel["params"]}
        folded = set(kernel["consts"])
        assert [name for name in order if name in there] == [parameter["name"] for parameter in kernel["params"]]
        assert set(there) | folded == set(order)
        # N1 and N10 are one value, N11 and N12 another: what is folded or aligned comes in these pairs.
        assert folded in (set(), {"N1", "N10"}, {"N11", "N12"}, {"N1", "N10", "N11", "N12"})
        for one, other in (("N1", "N10"), ("N11", "N12")):
            assert (one in there) == (other in there)
            assert one not in there or there[one]["div16"] == there[other]["div16"]
        assert (there["P2"]["type"], there["P3"]["type"], there["P8"]["type"], there["SEED"]["type"]) == ("*u32", "*u64", "*u16", "u64")
        seen.add((frozenset(folded), there["SEED"]["div16"], there.get("N10", {}).get("div16")))
    assert len(seen) == 12


def test_r04_constexpr_in_do_not_specialize_is_refused_by_name(tiny: Tiny) -> None:
    message = refusal(
        tiny(
            domains=".n = 2",
            signature="N, BLOCK: tl.constexpr",
            constexprs='aot.ci("BLOCK", 64)',
            decorator='(do_not_specialize=["BLOCK"])',
        )
    )
    assert "BLOCK of _tiny (tiny.py:" in message and "do_not_specialize, which Triton ignores" in message


@pytest.mark.parametrize("annotation", ["tuple", "tl.tensor_descriptor"])
def test_r09_parameter_that_no_launch_can_pass_is_refused_by_name(tiny: Tiny, annotation: str) -> None:
    message = refusal(tiny(domains=".n = 2", signature=f"N: {annotation}"))
    assert message.count("error: ") == 1
    assert "N of _tiny (tiny.py:" in message and "a launch passes pointers and numbers alone" in message


def test_r27_classes_follow_the_number_of_streams(tiny: Tiny) -> None:
    family = tiny(domains='.n = .{ .from = 1, .to = "parallel" }')
    want = {1: {"one"}, 15: {"one", "any"}, 16: {"one", "any", "div16"}, 64: {"one", "any", "div16"}}
    assert {parallel: classes(family, parallel) for parallel in want} == want


def test_r27_zero_and_negative_multiples_of_16_are_divisible(tiny: Tiny, tmp_path: Path) -> None:
    assert classes(tiny(domains=".n = .{ .from = -32, .to = 17 }", parameters="n: isize")) == {"one", "any", "div16"}
    family = write_tiny(tmp_path / "other", tiny().zig, tiny().cache, domains=".n = .{ 0, -16 }", parameters="n: isize")
    assert classes(family) == {"div16"}


def test_r29_derived_ints_are_enumerated_by_formula(tiny: Tiny) -> None:
    parts = {"parameters": "n: usize, length: usize"}
    family = tiny(domains='.n = "ceil(length / 64)", .length = .{ .from = 1, .to = 8192 }', arguments='aot.int("N", @intCast(n + 0 * length))', **parts)
    assert classes(family) == {"one", "any", "div16"}
    # Sixteen chunks begin at 961.
    family.edit("capture.zon", ".to = 8192", ".to = 960")
    assert classes(family) == {"one", "any"}


def test_r30_constexpr_that_follows_a_runtime_range_is_refused_with_its_count(tiny: Tiny) -> None:
    parts = {"parameters": "rows: usize", "arguments": "", "constexprs": 'aot.ci("T", @intCast(rows))', "signature": "T: tl.constexpr"}
    message = refusal(tiny(domains=".rows = .{ .from = 1, .to = 4096 }", **parts))
    assert "triton.zig:10:" in message and "constexpr T of _tiny takes 4096 values" in message and ".constexpr_values_max = 4096" in message
    allowed = tiny(domains=".rows = .{ .from = 1, .to = 65 }", fields=".constexpr_values_max = 65,", **parts)
    assert len(allowed.plan().needs) == 65
    allowed.edit("capture.zon", "max = 65", "max = 64")
    assert "constexpr T of _tiny takes 65 values" in refusal(allowed)


def test_r42_every_row_count_asks_for_its_tile(family: Callable[[str], Family]) -> None:
    needs = [need for need in family("mla").plan().needs if need.function == "_mla_absorb" and "M: i32 any" in need.identity]
    tiles = {need.constexprs["BM"].value: need.witness.layout["rows"] for need in needs}
    assert tiles == {16: 2, 32: 17, 64: 33}


def test_r47_unknown_pointer_type_is_refused_by_name(tiny: Tiny) -> None:
    message = refusal(tiny(parameters="x: u64", arguments='aot.ptr("N", "*f32", x)'))
    assert "the launch passes N as *f32, which is no pointer that Triton knows (did you mean" in message


def test_r49_padded_graphs_add_their_buckets(tiny: Tiny) -> None:
    family = tiny(domains=".n = .{ .buckets = .{ 1, 2, 4, 8, 16 } }", parallel=10)
    assert classes(family) == {"one", "any", "div16"}
    assert classes(family, 1) == {"one", "any", "div16"}
    family.edit("capture.zon", "8, 16 }", "8, 16 }, .cap = 8")
    assert classes(family) == {"one", "any"}


def test_int_range_that_crosses_a_width_is_refused_by_name(tiny: Tiny) -> None:
    message = refusal(tiny(domains=".n = .{ .from = 1, .to = 2147483648, .step = 65536 }"))
    assert "capture.zon:" in message and "the domain of n of Tri.tiny: 1..2147483648 crosses the width of an i32 at 2147483647" in message
