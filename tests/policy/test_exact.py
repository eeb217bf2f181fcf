"""Where Triton and the engines' exact rule disagree, derived aliases make both right: in Triton 3.6.0, 3.7.1 and 3.9.0 alike."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from build_capture.sets.match import match
from build_capture.sets.seal import soundness
from tests.policy.conftest import Made, launch, need

INTS = ("1", "16", "?")


@pytest.mark.parametrize(
    ("function", "codes", "aliases"),
    [
        # Neither folded nor hinted: one entry takes every value.
        ("_unspecialized", {"1": "nospec", "16": "nospec", "?": "nospec"}, []),
        # Folded and not hinted: code for 1, and code for all else, which a multiple of 16 takes by an alias.
        ("_unhinted", {"1": "", "16": "any", "?": "any"}, ["nospec"]),
        # Hinted and not folded: 1 takes the code for any value by an alias.
        ("_annotated", {"1": "any", "16": "div16", "?": "any"}, ["nospec"]),
        ("_typed", {"1": "any", "16": "div16", "?": "any"}, ["nospec"]),
    ],
)
def test_exact_serves_every_class_of_an_int(make: Callable[..., Made], function: str, codes: dict[str, str], aliases: list[str]) -> None:
    made = make("exact", *(need(function, f"+ {each}") for each in INTS))
    own = {entry.hash: "".join(p.hint for p in entry.params if p.name == "N") for entry in made.entries if not entry.alias}
    assert sorted(own.values()) == sorted(set(codes.values()))
    assert [entry.params[-1].hint for entry in made.entries if entry.alias] == aliases
    for each in INTS:
        found = match(made.index, launch(need(function, f"+ {each}")), "exact")
        assert found.kernel is not None and own[found.kernel.hash] == codes[each], each
    assert soundness(made.entries) == []
    assert not any(served.lost for served in made.applied.served)


@pytest.mark.parametrize("function", ["_loose", "_shifted"])
def test_exact_serves_both_alignments_of_a_pointer_without_a_hint_from_one_cubin(make: Callable[..., Made], function: str) -> None:
    made = make("exact", need(function, "+ ?"), need(function, "- ?"))
    assert [(entry.params[0].div16, entry.params[0].assumes16, entry.alias) for entry in made.entries] == [(False, False, False), (True, False, True)]
    assert len({entry.hash for entry in made.entries}) == 1
    for classes in ("+ ?", "- ?"):
        assert match(made.index, launch(need(function, classes)), "exact").kernel is not None
    assert soundness(made.entries) == []


def test_exact_takes_only_the_aliases_that_needs_ask_for(make: Callable[..., Made]) -> None:
    made = make("exact", need("_loose", "+ ?"))
    assert [entry.params[0].div16 for entry in made.entries] == [False, True]
    assert make("exact", need("_loose", "- ?")).applied.aliases == []
    assert make("exact", need("_typed", "+ 16"), need("_typed", "+ ?")).applied.aliases == []


def test_exact_gives_flags_that_agree_with_the_decorator_and_weakens_no_hint(make: Callable[..., Made]) -> None:
    """R31: wide accesses only where the pointer and n carry the hint, and each entry says what its code assumes."""
    classes = {"+ + 16": (128, 128), "- + 16": (32, 128), "+ - 16": (128, 32), "+ + ?": (32, 32)}
    made = make("exact", *(need("_copy", each) for each in classes))
    assert len(made.applied.variants) == 4 and made.applied.aliases == []
    for served, (text, want) in zip(made.applied.served, classes.items(), strict=True):
        widest = (max(int(name.rpartition(".")[2]) for name in served.variant.result.widths if name.startswith(kind)) for kind in ("ld.global", "st.global"))
        assert tuple(widest) == want, text
        assert [p.div16 for p in served.variant.result.params] == [p.hinted for p in served.need.parameters]
