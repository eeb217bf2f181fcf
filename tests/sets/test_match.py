"""The three policies, rule by rule: each with a launch that a set serves and one that it does not."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from build_capture.sets.index import Index
from build_capture.sets.launch import Argument
from build_capture.sets.match import Policy, ambiguities, match, nearest
from build_capture.sets.model import SetKernel
from build_capture.sets.rule import differences, fits, show_float
from tests.sets.entries import bits, entry, launch, param, pointer, real, whole, word

FOLDED = entry(consts={"W": 1})
CONSTEXPRS = entry(consts={"D": 64, "SCALE": 0.0, "MASK": None})


@pytest.mark.parametrize(
    ("kernel", "argument", "want"),
    [
        (entry(param("W")), whole("W", 2), ""),
        (entry(param("W")), whole("W", -1), ""),
        (entry(param("W")), whole("W", 1), "W is any there, 1 (one) here"),
        (entry(param("W")), whole("W", 16), "W is any there, 16 (div16) here"),
        (entry(param("W")), whole("W", 0), "W is any there, 0 (div16) here"),
        (entry(param("W", "i32", "div16")), whole("W", 32), ""),
        (entry(param("W", "i32", "div16")), whole("W", 0), ""),
        (entry(param("W", "i32", "div16")), whole("W", -16), ""),
        (entry(param("W", "i32", "div16")), whole("W", 17), "W is div16 there, 17 (any) here"),
        (entry(param("W", "i32", "div16")), whole("W", 1), "W is div16 there, 1 (one) here"),
        (entry(param("W", "i64")), whole("W", 2), "W is i64 there, i32 here"),
        *((entry(param("W", "i32", "nospec")), whole("W", value), "") for value in (1, 2, 16, 0, -16)),
        (entry(param("W", "i32", "nospec", "div16")), whole("W", 16), "W is div16 though not specialized there, 16 (div16) here"),
        (FOLDED, whole("W", 1), ""),
        (FOLDED, whole("W", 2), "W is 1 (folded) there, 2 (any) here"),
        (FOLDED, word("W", 1), "no param W there"),
        (entry(consts={"W": 2}), whole("W", 2), "no param W there"),
        (entry(), whole("W", 1), "no param W there"),
        (entry(param("X", "*bf16", "div16")), pointer("X", 0x100), ""),
        (entry(param("X", "*bf16", "div16")), pointer("X", 0x108), "X is aligned there, unaligned here"),
        (entry(param("X", "*bf16", "div16")), pointer("X", 0x100, "*fp32"), "X is *bf16 there, *fp32 here"),
        (entry(param("X", "*bf16")), pointer("X", 0x104), ""),
        (entry(param("X", "*bf16")), pointer("X", 0x100), "X is unaligned there, aligned here"),
        (entry(param("X", "*bf16", "nospec")), pointer("X", 0x100), "X is unaligned there, aligned here"),
        (entry(param("S", "u64")), word("S", 1), ""),
        (entry(param("S", "u64")), word("S", 1 << 63), "S is any there, 9223372036854775808 (div16) here"),
        (entry(param("S", "u64", "div16")), word("S", 1 << 63), ""),
        (entry(param("S", "u64")), whole("S", 3), "S is u64 there, i32 here"),
        (entry(param("e", "fp32")), real("e", 1e-6), ""),
        (entry(param("e", "u64")), real("e", 1.0), "e is u64 there, fp32 here"),
    ],
)
def test_differences_of_an_argument(kernel: SetKernel, argument: Argument, want: str) -> None:
    assert "; ".join(map(str, differences(kernel, launch([argument])))) == want


@pytest.mark.parametrize(
    ("named", "want"),
    [
        ({}, ""),
        ({"D": 64, "SCALE": 0.0}, ""),
        ({"D": 65}, "constexpr D is 64 there, 65 here"),
        ({"D": 64.0}, "constexpr D is 64 there, 6.4e1 here"),
        ({"SCALE": -0.0}, "constexpr SCALE is 0e0 there, -0e0 here"),
        ({"SCALE": 0}, "constexpr SCALE is 0e0 there, 0 here"),
        ({"MASK": 0}, "constexpr MASK is None there, 0 here"),
        ({"E": 1}, "no constexpr E there"),
    ],
)
def test_differences_of_constexprs(named: dict[str, int | float], want: str) -> None:
    assert "; ".join(map(str, differences(CONSTEXPRS, launch([], named)))) == want


def test_differences_of_what_has_no_counterpart() -> None:
    kernel = entry(param("X", "*bf16", "div16"), param("N"))
    assert fits(kernel, launch([whole("N", 2), pointer("X", 16)]))
    assert [*map(str, differences(kernel, launch([pointer("X", 16)])))] == ["N is a param there, not given here"]
    assert [*map(str, differences(kernel, launch([pointer("X", 16), whole("N", 2), whole("M", 2)])))] == ["no param M there"]


@pytest.mark.parametrize(("value", "want"), [(1e-6, "1e-6"), (0.1, "1e-1"), (3.0e38, "3e38"), (1.5, "1.5e0"), (float("-inf"), "-inf")])
def test_show_float_writes_the_fewest_digits(value: float, want: str) -> None:
    assert show_float(bits(value)) == want


def check(kernels: Sequence[SetKernel], asked: object, policy: Policy, want: str) -> None:
    """Wants the launch to get, say, `exact 1`: the entry of that place in the file."""
    found = match(Index(kernels), asked, policy)
    place = "" if found.kernel is None else f" {[id(kernel) for kernel in kernels].index(id(found.kernel))}"
    assert found.kind + place == want


def test_match_takes_the_first_entry_in_file_order() -> None:
    kernels = [entry(param("W", "i32", "div16")), entry(param("W", "i32", "nospec")), entry(param("W"))]
    check(kernels, launch([whole("W", 16)]), "exact", "exact 0")
    check(kernels, launch([whole("W", 2)]), "exact", "exact 1")
    check(kernels[2:], launch([whole("W", 1)]), "exact", "missing")
    check([], launch([]), "exact", "missing")


def test_match_pinned_looks_at_the_options() -> None:
    four, eight, stages = entry(warps=4, stages=2, hash="4"), entry(warps=8, stages=2, hash="8"), entry(warps=4, stages=3, hash="3")
    check([four, eight], launch([]), "exact", "exact 0")
    check([four, eight], launch([], warps=8), "exact", "exact 0")
    check([four, eight], launch([], warps=8), "pinned", "exact 1")
    check([four, eight], launch([], warps=2), "pinned", "missing")
    check([four, eight], launch([]), "pinned", "ambiguous 0")
    check([four, stages], launch([], warps=4), "pinned", "ambiguous 0")
    check([four, stages], launch([], warps=4, stages=3), "pinned", "exact 1")
    check([four, entry(warps=4, stages=2, hash="same options")], launch([]), "pinned", "exact 0")


def test_match_pinned_takes_an_entry_without_stages_for_any_pin_of_them() -> None:
    unrecorded, three = entry(warps=4), entry(warps=4, stages=3)
    check([unrecorded], launch([], warps=4, stages=7), "pinned", "exact 0")
    check([unrecorded, three], launch([], stages=3), "pinned", "exact 0")
    check([unrecorded, three], launch([]), "pinned", "ambiguous 0")
    check([three], launch([], stages=7), "pinned", "missing")


@pytest.mark.parametrize("policy", ["exact", "pinned"])
def test_match_without_fallback_leaves_a_more_general_entry(policy: Policy) -> None:
    check([entry(param("W"))], launch([whole("W", 16)]), policy, "missing")


def test_match_fallback_takes_what_assumes_less() -> None:
    general = entry(param("X", "*bf16"), param("W"))
    check([general], launch([pointer("X", 4), whole("W", 2)]), "fallback", "exact 0")
    for arguments in ([pointer("X", 16), whole("W", 2)], [pointer("X", 4), whole("W", 16)], [pointer("X", 4), whole("W", 1)]):
        check([general], launch(arguments), "fallback", "fallback 0")
    check([entry(param("S", "u64"))], launch([word("S", 16)]), "fallback", "fallback 0")


def test_match_fallback_leaves_what_assumes_more_or_other() -> None:
    check([entry(param("W", "i32", "div16"))], launch([whole("W", 17)]), "fallback", "missing")
    check([entry(param("X", "*bf16", "div16"))], launch([pointer("X", 4)]), "fallback", "missing")
    check([entry(param("S", "u64", "div16"))], launch([word("S", 17)]), "fallback", "missing")
    check([FOLDED], launch([whole("W", 2)]), "fallback", "missing")
    check([entry(param("W", "i64"))], launch([whole("W", 16)]), "fallback", "missing")
    check([entry(param("W"), consts={"D": 64})], launch([whole("W", 16)], {"D": 65}), "fallback", "missing")
    check([entry(param("W"), param("N"))], launch([whole("W", 16)]), "fallback", "missing")


def test_match_fallback_prefers_what_shares_most_then_file_order() -> None:
    none, one, other = (entry(param("X", "*bf16", *x), param("Y", "*bf16", *y), param("W")) for x, y in (((), ()), (("div16",), ()), ((), ("div16",))))
    asked = launch([pointer("X", 16), pointer("Y", 16), whole("W", 2)])
    check([none, one, other], asked, "fallback", "fallback 1")
    check([none, other, one], asked, "fallback", "fallback 1")
    check([none], asked, "fallback", "fallback 0")
    folded, general = entry(param("X", "*bf16"), consts={"W": 1}), entry(param("X", "*bf16"), param("W", "i32", "nospec"))
    check([general, folded], launch([pointer("X", 16), whole("W", 1)]), "fallback", "fallback 1")


def test_match_fallback_keeps_pins_and_refuses_ambiguity() -> None:
    four, eight = entry(param("W"), warps=4), entry(param("W"), warps=8)
    check([four, eight], launch([whole("W", 16)], warps=8), "fallback", "fallback 1")
    check([four], launch([whole("W", 16)], warps=8), "fallback", "missing")
    check([four, eight], launch([whole("W", 2)]), "fallback", "ambiguous 0")


def test_match_serves_what_triton_and_the_exact_rule_disagree_on_through_aliases() -> None:
    """A pointer without hints, and an annotated int, which Triton does not fold."""
    pointers = [entry(param("X", "*bf16")), entry(param("X", "*bf16", "div16", assumes16=False), alias=True)]
    check(pointers[:1], launch([pointer("X", 16)]), "exact", "missing")
    check(pointers, launch([pointer("X", 16)]), "exact", "exact 1")
    check(pointers, launch([pointer("X", 4)]), "exact", "exact 0")
    ints = [entry(param("N")), entry(param("N", "i32", "nospec"), alias=True)]
    check(ints[:1], launch([whole("N", 1)]), "exact", "missing")
    check(ints, launch([whole("N", 1)]), "exact", "exact 1")
    check(ints, launch([whole("N", 2)]), "pinned", "exact 0")


def ambiguous(kernels: Sequence[SetKernel], asked: object) -> list[str]:
    """What makes a launch ambiguous, in words that do not depend on file order."""
    return [f"{found.what}: {', '.join(sorted(found.values))}" for found in ambiguities(Index(kernels).fitting(asked), asked)]


@pytest.mark.parametrize("order", [1, -1])
def test_ambiguities_of_a_launch_that_names_too_little(order: int) -> None:
    kernels = [entry(consts={"FLAG": None}, hash="1"), entry(consts={"FLAG": 3}, hash="2")][::order]
    check(kernels, launch([]), "exact", "exact 0")
    assert ambiguous(kernels, launch([])) == ["FLAG: int:3, none:None"]
    assert ambiguous(kernels, launch([], {"FLAG": 3})) == []
    texts = [entry(texts={"MODE": mode}, hash=mode) for mode in ("ieee", "tf32")][::order]
    assert ambiguous(texts, launch([])) == ["MODE: text:'ieee', text:'tf32'"]
    zeros = [entry(consts={"SCALE": zero}, hash=f"{zero}") for zero in (0.0, -0.0)][::order]
    assert ambiguous(zeros, launch([])) == ["SCALE: f32:-0.0, f32:0.0"]


def test_ambiguities_of_kinds_that_engines_do_not_tell_apart() -> None:
    kernels = [entry(consts={"FLAG": 1}, kinds={"FLAG": "bool"}, hash="1"), entry(consts={"FLAG": 1}, hash="2")]
    assert ambiguous(kernels, launch([], {"FLAG": 1})) == ["FLAG: bool:True, int:1"]


def test_ambiguities_of_options_that_are_left_open() -> None:
    kernels = [entry(warps=4, hash="4"), entry(warps=8, hash="8")]
    assert ambiguous(kernels, launch([])) == ["num_warps: 4, 8"]
    assert ambiguous(kernels, launch([], warps=8)) == []


def test_ambiguities_of_entries_that_nothing_tells_apart() -> None:
    assert ambiguous([entry(hash="1"), entry(hash="2")], launch([])) == ["code: 1, 2"]


def test_ambiguities_are_none_where_aliases_or_folded_ints_overlap() -> None:
    kernels = [entry(consts={"W": 1}, hash="1"), entry(param("W"), hash="2"), entry(param("W", "i32", "nospec"), hash="2", alias=True)]
    for value in (1, 2, 16):
        assert match(Index(kernels), launch([whole("W", value)]), "exact").kernel is not None
        assert ambiguous(kernels, launch([whole("W", value)])) == []
    (found,) = ambiguities([entry(warps=4, hash="4"), entry(warps=8, hash="8")], launch([]))
    assert str(found) == "num_warps is 4 in 4, 8 in 8; the launch does not tell which"


def test_nearest_says_what_the_entry_differs_in() -> None:
    kernels = [entry(param("X", "*bf16"), param("W", "i32", "div16")), entry(param("X", "*bf16", "div16"), param("W", "i32", "div16"))]
    near = nearest(Index(kernels), launch([pointer("X", 16), whole("W", 2)]))
    assert near is not None and near.kernel is kernels[1]
    assert [*map(str, near.differences)] == ["W is div16 there, 2 (any) here"]
    assert nearest(Index([]), launch([])) is None
