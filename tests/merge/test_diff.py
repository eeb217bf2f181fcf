"""Comparing sets: every kind of difference is told once, and only a difference changes the exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from build_capture.cli import cli
from build_capture.sets.diff import Change, compare
from tests.merge.folders import FIRST, SECOND, kernel, write, write_foreign


def test_compare_finds_nothing_between_equal_sets(tmp_path: Path) -> None:
    found = compare(write(tmp_path / "a", kernel()), write(tmp_path / "b", kernel()))
    assert not found.differs and found.same == 1 and found.bytes.before == found.bytes.after == len(FIRST)


def test_compare_tells_what_was_added_removed_and_changed(tmp_path: Path) -> None:
    before = write(tmp_path / "a", kernel("aa"), kernel("bb", warps=8))
    after = write(tmp_path / "b", kernel("aa", SECOND, shared=64), kernel("cc", warps=2), cubins={"aa": SECOND})
    found = compare(before, after)
    assert found.removed == ["_f(X: *i32 unaligned) [] warps 8, stages 0"] and found.added == ["_f(X: *i32 unaligned) [] warps 2, stages 0"]
    (changed,) = found.changed
    assert [(change.name, change.before, change.after) for change in changed.fields][1:] == [("bytes", len(FIRST), len(SECOND)), ("shared", 0, 64)]
    assert changed.fields[0].name == "cubin" and found.same == 0


@pytest.mark.parametrize(
    ("change", "want"),
    [
        ({"policy": "total"}, ("policy", "exact", "total")),
        ({"target": "sm_120"}, ("target", "sm_121", "sm_120")),
        ({"provenance": {"toolchain": {"triton": "3.7.1"}}}, ("provenance.toolchain.triton", None, "3.7.1")),
        ({"provenance": {"kernels": {"k.py": "ab"}}}, ("provenance.kernels.k.py", None, "ab")),
    ],
)
def test_compare_tells_what_differs_in_the_sets_as_wholes(tmp_path: Path, change: dict[str, object], want: tuple[object, ...]) -> None:
    facts = [(fact.name, fact.before, fact.after) for fact in compare(write(tmp_path / "a", kernel()), write(tmp_path / "b", kernel(), **change)).facts]
    assert want in facts


def test_compare_tells_an_alias_from_code_of_its_own(tmp_path: Path) -> None:
    exact = write(tmp_path / "a", kernel("aa"), kernel("bb", x="div16"))
    compact = write(tmp_path / "b", kernel("aa"), kernel("aa", x="div16", assumes16=False, alias=True))
    (changed,) = compare(exact, compact).changed
    assert [(change.name, change.before, change.after) for change in changed.fields] == [
        ("hash", "bb", "aa"),
        ("alias", False, True),
        ("assumes16", ["X"], []),
    ]


def test_compare_reads_a_foreign_set_by_its_cubins(tmp_path: Path) -> None:
    ours, foreign = write(tmp_path / "a", kernel()), write_foreign(tmp_path / "b", kernel(), target="sm_121", policy="exact")
    found = compare(ours, foreign)
    assert found.same == 1 and not found.changed and "second: another tool wrote this set" in found.notes[0]


def test_diff_exits_with_3_where_sets_differ_and_0_where_they_do_not(tmp_path: Path) -> None:
    write(tmp_path / "a", kernel())
    write(tmp_path / "b", kernel("aa", SECOND), cubins={"aa": SECOND})
    runner = CliRunner()
    same = runner.invoke(cli, ["diff", str(tmp_path / "a"), str(tmp_path / "a")])
    assert same.exit_code == 0 and "0 changed, 1 the same" in same.output
    other = runner.invoke(cli, ["diff", str(tmp_path / "a"), str(tmp_path / "b")])
    assert other.exit_code == 3 and "_f X=unaligned (warps 4, stages 0)" in other.output
    write(tmp_path / "c", kernel(), kernel("bb", warps=8))
    assert "1 entry added, 0 removed" in runner.invoke(cli, ["diff", str(tmp_path / "a"), str(tmp_path / "c")]).output
    document = json.loads(runner.invoke(cli, ["diff", str(tmp_path / "a"), str(tmp_path / "b"), "--json"]).output)
    assert [change["name"] for change in document["changed"][0]["fields"]] == ["cubin", "bytes"]


@pytest.mark.parametrize(("before", "after", "shown"), [
    ("ab" * 32, None, ("ab" * 6, "-")), (1234567, ["X", "Y"], ("1,234,567", "X, Y")), ("a\n" * 100, None, ("a " * 50 + "…", "-")),
    # Of long texts that begin alike, what differs.
    ("a" * 150 + "x" + "b" * 200, "a" * 150 + "y", ("…" + "a" * 20 + "x" + "b" * 79 + "…", "…" + "a" * 20 + "y")),
    ("a" * 150, "a" * 151, ("…" + "a" * 20, "…" + "a" * 21)),
])  # fmt: skip
def test_change_shows_hashes_and_long_texts_shortened(before: object, after: object, shown: tuple[str, str]) -> None:
    assert Change("name", before, after).shown == shown


def test_compare_tells_the_sets_that_were_merged_one_by_one(tmp_path: Path) -> None:
    def record(digest: str, parallel: int) -> dict[str, object]:
        return {"digest": digest * 32, "policy": "exact", "generator": {"name": "build-capture"}, "provenance": {"limits": {"parallel": parallel}, "x": "y" * 500}}

    sets = [
        write(tmp_path / str(number), kernel(), provenance={"merged": [record("aa", 1), record(digest, parallel)]})
        for number, (digest, parallel) in enumerate((("bb", 2), ("cc", 4)))
    ]
    assert [(fact.name, *fact.shown) for fact in compare(*sets).facts] == [
        ("provenance.merged.bbbbbbbbbbbb", "generator build-capture, policy exact, parallel 2", "-"),
        ("provenance.merged.cccccccccccc", "-", "generator build-capture, policy exact, parallel 4"),
    ]
    odd = write(tmp_path / "odd", kernel(), provenance={"merged": [1, {}]})
    assert [fact.name for fact in compare(odd, odd).facts] == [] and len(compare(sets[0], odd).facts) == 3
