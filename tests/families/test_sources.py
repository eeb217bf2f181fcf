"""Rounds drive what they can, domains the rest."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from build_capture.errors import CaptureError
from build_capture.plan.sources import KernelSource, kernel_sources
from tests.families.harness import Family


def test_sources_tell_rounds_from_domains_and_what_rounds_prove(family: Callable[[str], Family]) -> None:
    planned = family("mixed").plan()
    assert kernel_sources(planned.needs) == [
        KernelSource("_mixed_attend", "rounds", never_unaligned=["Q"], never_aligned=[]),
        KernelSource("_mixed_norm", "rounds and domains", never_unaligned=[], never_aligned=[]),
    ]
    how = {choice.method.name: choice.how for choice in planned.domains.choices}
    assert how == {"attend": "rounds", "sample": "domains"}
    # Five rounds; two counts times the eight residues of an address.
    assert (planned.probed.rounds, planned.probed.calls) == (5, 16)
    # What rounds embed decides what they launch: an edit captures anew.
    assert [path.name for path in planned.zig_files] == ["rounds.zig", "triton.zig", "word_bytes.txt"]


def test_rounds_that_embed_what_their_text_does_not_name_are_refused(family: Callable[[str], Family]) -> None:
    mutant = family("mixed")
    mutant.edit("src/rounds.zig", '"word_bytes.txt"', '"word_" ++ "bytes.txt"')
    with pytest.raises(CaptureError) as raised:
        mutant.plan()
    assert "rounds.zig:9:53: error: the path of @embedFile is no literal" in str(raised.value)


def test_method_that_nothing_drives_is_refused_by_name(family: Callable[[str], Family]) -> None:
    mutant = family("mixed")
    text = (mutant.folder / "capture.zon").read_text(encoding="utf-8")
    for domains in ("", "    .domains = .{},\n"):
        (mutant.folder / "capture.zon").write_text(text[: text.index("    .domains")] + domains + "}\n", encoding="utf-8")
        with pytest.raises(CaptureError) as raised:
            mutant.plan()
        refusal = "triton.zig:19:9: error: rounds.zig does not call Tri.sample; call it in `drive`, or say in .domains of capture.zon what"
        assert refusal in str(raised.value)


def test_unbound_parameters_are_all_asked_for_with_the_line_to_add(family: Callable[[str], Family]) -> None:
    mutant = family("moe")
    mutant.edit("capture.zon", '        .pairs = "rows * top_k",\n', "")
    mutant.edit("capture.zon", '        .@"shared.scale" = 0.5,\n', "")
    mutant.edit("capture.zon", '"ceil(pairs / 16)"', "1")
    with pytest.raises(CaptureError) as raised:
        mutant.plan()
    first, second, count = str(raised.value).splitlines()
    assert first.endswith(
        "triton.zig:37:9: error: nothing says what pairs (usize) of Tri.gemm ranges over; "
        'add to .domains in capture.zon: .@"gemm.pairs" = .{ .from = LEAST, .to = MOST },'
    )
    assert "triton.zig:50:9: error: nothing says what shared.scale (f32) of Tri.combine ranges over" in second
    assert count == "2 errors"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (".pairs =", ".pears =", "capture.zon:13:10: error: no method has a parameter pears; did you mean pairs"),
        ('"rows * top_k"', '"rows * topk"', "the domain of pairs of Tri.gemm: there is no topk to calculate with; did you mean top_k"),
        ('"rows * top_k"', '"rows ** 2"', "'rows ** 2' is not part of a formula"),
        ('"rows * top_k"', '"tiles * 16"', "the formulas of pairs, tiles of Tri.gemm wait for each other"),
        ('"rows * top_k"', '"ceil(rows)"', "ceil rounds a division, such as ceil(n / 64)"),
        ('"ceil(pairs / 16)"', '"ceil(pairs / (rows - 1))"', "its divisor can be 0 or less"),
        ('"rows * top_k"', ".{ .from = 4 }", "capture.zon:13:18: error: the domain of pairs of Tri.gemm: the range has no .to"),
        ('"rows * top_k"', ".{ .from = 4, .until = 5 }", "a domain has no field .until"),
        ('"rows * top_k"', ".{ .from = 4, .to = 3 }", "the domain of pairs of Tri.gemm: it holds no value"),
        ('"rows * top_k"', "4.5", "a float is no whole number"),
        ('"rows * top_k"', ".{ .from = 1, .to = 100000000 }", "Tri.gemm would be called 1,500,000,000 times"),
        ("= 0.5", "= true", "a bool is no value of f32"),
        (".rows =", ".@\"route.logits\" = .{ .alignment = .odd }, .rows =", "it is no alignment; write .either, .aligned, or 1, 2, 4, 8 or 16 bytes"),
        (".rows =", ".@\"combine.shared\" = 3, .rows =", "shared is a struct that may be null"),
        (".limits", '.skip = .{"root"}, .limits', "there is no public method root to skip; did you mean route"),
    ],
)  # fmt: skip
def test_wrong_domains_are_refused_by_name(family: Callable[[str], Family], old: str, new: str, message: str) -> None:
    mutant = family("moe")
    mutant.edit("capture.zon", old, new)
    with pytest.raises(CaptureError) as raised:
        mutant.plan()
    assert message in str(raised.value)


def test_skipped_method_has_to_be_reached_through_others(family: Callable[[str], Family]) -> None:
    mutant = family("moe")
    mutant.edit("capture.zon", ".limits", '.skip = .{"Tri.route"}, .limits')
    with pytest.raises(CaptureError, match="nothing within the limits reaches this launch of _moe_route"):
        mutant.plan()
