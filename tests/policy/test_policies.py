"""compact merges what loses no speed and nothing else; total refuses no value. Both hold to the exact rule of engines."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import msgspec
import pytest

from build_capture.capture.policy import aliases
from build_capture.capture.policy.cost import cost_lines, cost_of
from build_capture.errors import CaptureError
from build_capture.sets.match import match
from build_capture.sets.seal import soundness
from tests.policy.conftest import Made, launch, need

ROWS = [need("_rows", each) for each in ("+ + 1", "+ + 16", "- + ?")]


def test_compact_serves_a_table_and_an_int_from_one_cubin_where_hints_widen_nothing(make: Callable[..., Made]) -> None:
    made = make("compact", *ROWS)
    assert len(make("exact", *ROWS).applied.variants) == 3
    (variant,) = made.applied.variants
    assert [(p.name, p.div16) for p in variant.result.params] == [("T", False), ("X", True), ("W", False)]
    assert [match(made.index, launch(each), "exact").kind for each in ROWS] == ["exact"] * 3
    assert [served.lost for served in made.applied.served] == [("T", "W"), ("T", "W"), ()]
    assert soundness(made.entries) == []
    cost = cost_of(made.applied)
    assert (cost.cubins, cost.entries, cost.aliases, len(cost.weaker), cost.apart) == (1, 2, 1, 2, [])
    # The hints on T and W change nothing in the code; only a folded 1 does.
    assert [(each.classes, each.same_bytes) for each in cost.weaker] == [("W=div16", True), ("W=one", False)]
    said = list(cost_lines(cost, 3))
    assert "  _rows: T (2), W (2)" in said and any("2 of 3 launches run code that knows less" in line and "for 1 of them" in line for line in said)


def test_compact_keeps_a_table_apart_that_is_read_wide_where_it_is_aligned(make: Callable[..., Made]) -> None:
    needs = [need("_words", "+ +"), need("_words", "- +")]
    made = make("compact", *needs)
    assert len(made.applied.variants) == 2 and made.applied.aliases == []
    (apart,) = cost_of(made.applied).apart
    assert apart.startswith("_words: the classes of T stay apart; one cubin for all would have 8 ld.global below 128 bits instead of 0")
    assert not any(served.lost for served in made.applied.served)


def test_compact_merges_one_argument_and_keeps_another_apart(make: Callable[..., Made]) -> None:
    needs = [need("_table", each) for each in ("+ + 16", "- + 16", "+ + ?")]
    made = make("compact", *needs)
    assert sorted(tuple(p.div16 for p in each.result.params) for each in made.applied.variants) == [(False, True, False), (False, True, True)]
    assert [each.arguments for each in made.applied.apart] == [("ldx",)]
    assert [served.lost for served in made.applied.served] == [("T",), (), ("T",)]
    assert all(match(made.index, launch(each), "exact").kind == "exact" for each in needs)


def test_total_refuses_no_value_of_an_int_and_no_alignment_of_a_table(make: Callable[..., Made]) -> None:
    made = make("total", *ROWS)
    exact = make("exact", *ROWS)
    for served in exact.applied.served:
        found = match(made.index, launch(served.need), "exact")
        assert found.kernel is not None and found.kernel.hash == served.variant.result.hash, "within the limits nothing loses a hint"
    tried = 0
    for table, w in product((0x7000, 0x7004, 0x7008, 0x700C), (*range(-33, 300), 4096, 2**31 - 1, -(2**31))):
        assert match(made.index, launch(ROWS[0], T=table, W=w), "exact").kernel is not None, (table, w)
        tried += 1
    assert tried == 4 * 336
    # Data is not a table: its alignment stays what the needs have.
    assert match(made.index, launch(ROWS[0], X=0x7004), "exact").kind == "missing"
    assert soundness(made.entries) == []
    assert len({entry.identity for entry in made.entries}) == len(made.entries)


def test_total_serves_a_class_that_exact_serves_by_an_alias_with_the_same_code(make: Callable[..., Made]) -> None:
    needs = [need("_typed", each) for each in ("+ 1", "+ 16")]
    exact, total = make("exact", *needs), make("total", *needs)
    for each in needs:
        one, other = (match(made.index, launch(each), "exact").kernel for made in (exact, total))
        assert one is not None and other is not None and one.hash == other.hash
    assert match(total.index, launch(needs[0], N=-7), "exact").kernel is not None
    assert match(make("exact", needs[1]).index, launch(needs[0], N=-7), "exact").kernel is None


@pytest.mark.parametrize(("policy", "cubins"), [("exact", 2), ("compact", 1), ("total", 2)])
def test_u64_is_served_in_both_classes(make: Callable[..., Made], policy: str, cubins: int) -> None:
    """The exact rule has no word by which one entry serves every u64: generic code takes an entry for each class."""
    needs = [need("_seeds", "+ 16"), need("_seeds", "+ ?")]
    made = make(policy, *needs)
    assert len(made.applied.variants) == cubins and len(made.entries) == 2
    for value in (0, 1, 16, 2**64 - 16, 2**64 - 1):
        assert match(made.index, launch(needs[0], S=value), "exact").kernel is not None, value
    assert len(make("total", needs[0]).applied.aliases) == 0 and len(make("total", needs[0]).entries) == 2


def test_total_refuses_by_name_more_aliases_than_engines_should_read(make: Callable[..., Made], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aliases, "ALIASES_MAX", 1)
    with pytest.raises(CaptureError, match="_rows would take 2 aliases, one for every combination of the alignments of T; at most 1 are allowed"):
        make("total", *ROWS)


@pytest.mark.parametrize(
    ("change", "want"),
    [
        ({"assumes16": True}, "`T` serves values that its code does not: the code assumes a multiple of 16"),
        ({"type": "*i64"}, "`params` is not that of"),
    ],
)
def test_an_alias_that_claims_more_than_its_cubin_bears_out_is_not_sound(make: Callable[..., Made], change: dict[str, object], want: str) -> None:
    from build_capture.sets.seal import sealed

    made = make("total", *ROWS)
    entries = made.entries
    at = next(index for index, entry in enumerate(entries) if entry.alias and not entry.params[0].div16)
    params = [msgspec.structs.replace(entries[at].params[0], **change), *entries[at].params[1:]]
    entries[at] = sealed(msgspec.structs.replace(entries[at], params=params))
    assert any(want in problem for problem in soundness(entries))
