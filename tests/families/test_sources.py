"""Rounds drive what they can, domains the rest."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from build_capture.errors import CaptureError
from build_capture.pipeline.plan import Request, open_profile
from build_capture.plan.domains import resolve_domains
from build_capture.plan.methods import Choice
from build_capture.plan.plan_domains import plan_domains
from build_capture.plan.sources import KernelSource, kernel_sources
from build_capture.plan.table import domain_rows
from build_capture.read.profile import Profile
from build_capture.read.reader import read_declarations, read_profile
from build_capture.zig import find_reader, find_zig
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


def test_domain_of_a_method_that_rounds_drive_is_checked_and_told_as_unused(family: Callable[[str], Family]) -> None:
    own = family("mixed")
    choices = choices_of(own)
    for domain, message in (
        ('.rows = "paralel * 2"', "capture.zon:9:10: error: the domain of rows of Tri.attend: there is no paralel to calculate with; did you mean parallel"),
        ('.@"attend.rows" = "rows *"', "capture.zon:9:27: error: the domain of rows of Tri.attend: 'rows *' is no formula"),
        (".rows = .{ .until = 3 }", "capture.zon:9:21: error: the domain of rows of Tri.attend: a domain has no field .until"),
    ):
        assert message in refusal(own, choices, "    .domains = .{\n", f"    .domains = .{{\n        {domain},\n")
    own.edit("capture.zon", "    .domains = .{\n", '    .domains = .{\n        .q = 16, .@"attend.rows" = "parallel",\n')
    profile = profile_of(own)
    bind(choices, profile)
    reasons = {row.method: row.reason for row in domain_rows(choices, profile) if row.source == "rounds"}
    assert reasons == {"Tri.attend": "rounds.zig calls it; not used: .q, .attend.rows of capture.zon"}


def profile_of(own: Family) -> Profile:
    """The profile of a family, as it is now."""
    return read_profile(find_reader(None, find_zig(own.zig), own.cache), own.folder / "capture.zon")


def choices_of(own: Family) -> list[Choice]:
    """How the methods of a family are driven: what Zig has to be asked once, whatever the domains are."""
    opened = open_profile(Request(own.folder / "capture.zon", None, None, target=None, zig=own.zig, reader=None, cache=own.cache))
    declarations = read_declarations(opened.reader, opened.profile.declarations)
    return plan_domains(opened.reader, opened.zig, opened.profile, declarations, opened.limits, own.cache).choices


def bind(choices: list[Choice], profile: Profile) -> None:
    """Bind the domains of the profile to the methods."""
    every = [choice.callable for choice in choices if choice.callable]
    resolve_domains([choice.callable for choice in choices if choice.callable and choice.how == "domains"], every, profile, profile.limits)


def refusal(own: Family, choices: list[Choice], old: str, new: str) -> str:
    """What is said of the profile with `new` in place of `old`; the profile is put back."""
    path = own.folder / "capture.zon"
    text = path.read_text(encoding="utf-8")
    own.edit("capture.zon", old, new)
    with pytest.raises(CaptureError) as raised:
        bind(choices, profile_of(own))
    path.write_text(text, encoding="utf-8")
    return str(raised.value)


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


WRONG = [
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
    (".rows = .{ .buckets = .{ 1, 2, 4, 8, 16 }, .to = \"parallel\" }", ".rows = -1", "capture.zon:12:10: error: the domain of rows of Tri.route: -1 does not fit usize"),
    (".@\"gemm.tiles\" = \"ceil(pairs / 16)\"", ".@\"gemm.tiles\" = \"0 - rows\"", "the domain of tiles of Tri.gemm: -1 does not fit usize"),
    ("= 0.5", "= .{ 1, 1e60 }", "capture.zon:15:34: error: the domain of shared.scale of Tri.combine: 1e+60 does not fit f32"),
    ("= 0.5", "= true", "a bool is no value of f32"),
    (".rows =", ".@\"route.logits\" = .{ .alignment = .odd }, .rows =", "it is no alignment; write .either, .aligned, or 1, 2, 4, 8 or 16 bytes"),
    (".rows =", ".@\"combine.shared\" = 3, .rows =", "shared is a struct that may be null"),
]  # fmt: skip
"""What is replaced in the profile, by what, and what is said of it."""


def test_wrong_domains_are_refused_by_name(family: Callable[[str], Family]) -> None:
    own = family("moe")
    choices = choices_of(own)
    for old, new, message in WRONG:
        assert message in refusal(own, choices, old, new)


def test_skipped_method_has_to_be_reached_through_others(family: Callable[[str], Family]) -> None:
    mutant = family("moe")
    mutant.edit("capture.zon", ".limits", '.skip = .{"Tri.route"}, .limits')
    with pytest.raises(CaptureError, match="nothing within the limits reaches this launch of _moe_route"):
        mutant.plan()
    mutant.edit("capture.zon", '"Tri.route"', '"root"')
    with pytest.raises(CaptureError, match="there is no public method root to skip; did you mean route"):
        mutant.plan()
