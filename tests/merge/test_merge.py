"""Merging: one entry a specialization whatever the order, conflicts told and decided as asked, inputs never harmed."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path

import pytest

from build_capture.cli import cli
from build_capture.errors import CaptureError, Exit
from build_capture.sets.merge import merge
from build_capture.sets.model import SetConstant
from build_capture.sets.pack import set_files
from build_capture.sets.read import read_set
from build_capture.sets.seal import soundness
from tests.merge.folders import FIRST, SECOND, kernel, with_constant, write, write_foreign
from tests.sets.cubins import cubin_bytes
from tests.sets.entries import bits, entry, param

CONSTANTS = [
    with_constant(kernel(), SetConstant(none=True)),
    with_constant(kernel(), SetConstant(whole=1)),
    with_constant(kernel(), SetConstant(whole=1), "bool"),
    with_constant(kernel(), SetConstant(whole=3)),
    with_constant(kernel(), SetConstant(f32=bits(0.0))),
    with_constant(kernel(), SetConstant(f32=bits(-0.0))),
    with_constant(kernel(), SetConstant(f32=0x7FC00001)),
    with_constant(kernel(), SetConstant(f32=bits(0.1)), "f64"),
    with_constant(kernel(), None, text="ieee"),
    with_constant(kernel(), None, text="1"),
]


def check_merge(sets: list[tuple[str, object]], conflict: str = "error") -> dict[str, bytes]:
    """The files of a merged set, which is sound."""
    merged = merge(sets, conflict)  # type: ignore[arg-type]
    assert soundness(merged.captured.kernels) == []
    return set_files(merged.captured, merged.cubins)


def test_merge_gives_the_same_bytes_in_any_order_and_for_repeated_sets(tmp_path: Path) -> None:
    sets = [(name, write(tmp_path / name, *kernels)) for name, kernels in (("a", CONSTANTS[:4]), ("b", CONSTANTS[3:7]), ("c", CONSTANTS[6:]))]
    files = [check_merge(list(order)) for order in permutations(sets)]
    assert all(each == files[0] for each in files)
    assert check_merge([*sets, *sets]) == files[0]
    assert len(files[0]) == 1 + len(CONSTANTS)


def test_merge_keeps_constants_of_every_kind_apart(tmp_path: Path) -> None:
    merged = merge([(str(index), write(tmp_path / str(index), each)) for index, each in enumerate(CONSTANTS)], "error")
    assert sorted(each.constants["FLAG"] for each in merged.captured.kernels) == sorted(each.constants["FLAG"] for each in CONSTANTS)
    assert len({each.identity for each in merged.captured.kernels}) == len(CONSTANTS)


def test_merge_keeps_entries_of_other_options_apart(tmp_path: Path) -> None:
    four, eight = write(tmp_path / "four", kernel("aa", warps=4)), write(tmp_path / "eight", kernel("bb", warps=8))
    assert [each.num_warps for each in merge([("four", four), ("eight", eight)], "error").captured.kernels] == [4, 8]


def test_merge_refuses_other_bytes_of_one_specialization_and_names_both_sets(tmp_path: Path) -> None:
    sets = [("one", write(tmp_path / "one", kernel())), ("two", write(tmp_path / "two", kernel("aa", SECOND), cubins={"aa": SECOND}))]
    with pytest.raises(CaptureError) as raised:
        merge(sets, "error")
    assert raised.value.code == Exit.NOT_COVERED
    assert str(raised.value).startswith("one: error: _f(X: *i32 unaligned) [] warps 4, stages 0 has other bytes in two; capture both with one toolchain")


@pytest.mark.parametrize(("conflict", "kept", "left", "want"), [("first", "one", "two", FIRST), ("newest", "two", "one", SECOND)])
def test_merge_keeps_what_is_chosen_of_a_conflict_with_the_aliases_of_both(tmp_path: Path, conflict: str, kept: str, left: str, want: bytes) -> None:
    alias = kernel("bb", SECOND, x="div16", assumes16=False, alias=True)
    sets = [("one", write(tmp_path / "one", kernel())), ("two", write(tmp_path / "two", kernel("bb", SECOND), alias, cubins={"bb": SECOND}))]
    merged = merge(sets, conflict)  # type: ignore[arg-type]
    (resolved,) = merged.resolved
    assert (resolved.kept, resolved.left, resolved.differs) == (kept, left, "sha256")
    assert list(merged.cubins.values()) == [want]
    # The alias serves aligned tables with whichever code was kept: both assume as little.
    assert [(each.alias, each.params[0].div16, each.params[0].assumes16) for each in merged.captured.kernels] == [(False, False, False), (True, True, False)]
    assert len({each.hash for each in merged.captured.kernels}) == 1 and soundness(merged.captured.kernels) == []


def test_merge_tells_of_one_specialization_that_is_launched_in_another_way(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="has another `shared` in two"):
        merge([("one", write(tmp_path / "one", kernel())), ("two", write(tmp_path / "two", kernel(shared=1024)))], "error")


def test_merge_lets_code_that_knows_more_serve_what_an_alias_of_another_set_serves(tmp_path: Path) -> None:
    compact = write(tmp_path / "compact", kernel("bb"), kernel("bb", x="div16", assumes16=False, alias=True))
    exact = write(tmp_path / "exact", kernel("aa", SECOND, x="div16"), cubins={"aa": SECOND})
    for order in ([("c", compact), ("e", exact)], [("e", exact), ("c", compact)]):
        merged = merge(order, "error")
        assert [(each.hash, each.alias) for each in merged.captured.kernels] == [("aa", False), ("bb", False)]
        assert merged.duplicates == 1


@pytest.mark.parametrize(("field", "value"), [("fn", "_g"), ("num_warps", 8), ("consts", {"FLAG": {"int": 3}})])
def test_merge_refuses_a_foreign_set_that_names_one_cubin_for_several_specializations(tmp_path: Path, field: str, value: object) -> None:
    write_foreign(tmp_path / "foreign", kernel())
    path = tmp_path / "foreign" / "aot.json"
    document = json.loads(path.read_text())
    path.write_text(json.dumps({"kernels": [*document["kernels"], {**document["kernels"][0], field: value}]}))
    with pytest.raises(CaptureError, match=f"two entries name the cubin aa, and `{field}` of"):
        merge([("foreign", read_set(tmp_path / "foreign"))], "error")


def test_merge_records_which_sources_differ_so_that_the_set_counts_as_stale(tmp_path: Path) -> None:
    def sources(version: str) -> dict[str, dict[str, str]]:
        return {"profile": {"capture.zon": "p"}, "declarations": {"triton.zig": "t"}, "kernels": {"same.py": "s", "edited.py": version}}

    one = write(tmp_path / "one", CONSTANTS[0], provenance=sources("first"))
    two = write(tmp_path / "two", CONSTANTS[1], provenance=sources("second"))
    provenance = merge([("one", one), ("two", two)], "error").captured.provenance
    assert (provenance["profile"], provenance["declarations"]) == ({"capture.zon": "p"}, {"triton.zig": "t"})
    assert provenance["kernels"] == {"same.py": "s", "edited.py": "several versions"}
    strange = write(tmp_path / "three", CONSTANTS[1], provenance={"kernels": ["none"]})
    assert "kernels" not in merge([("one", one), ("three", strange)], "error").captured.provenance


def test_merge_keeps_the_provenance_of_every_set_once_and_what_they_agree_on(tmp_path: Path) -> None:
    one = write(tmp_path / "one", CONSTANTS[0], provenance={"family": "f", "limits": {"parallel": 1}})
    two = write(tmp_path / "two", CONSTANTS[1], provenance={"family": "f", "limits": {"parallel": 2}}, policy="total")
    merged = merge([("one", one), ("two", two), ("again", one)], "error").captured
    assert merged.policy == "" and {name for name in merged.provenance} == {"family", "merged"}
    records = merged.provenance["merged"]
    assert sorted(record["provenance"]["limits"]["parallel"] for record in records) == [1, 2]
    assert {record["policy"] for record in records} == {"exact", "total"} and not any(record["foreign"] for record in records)
    # A merged set merges like its parts.
    again = write(tmp_path / "merged", *merged.kernels, provenance=merged.provenance)
    assert merge([("merged", again), ("two", two)], "error").captured.provenance["merged"] == records


def test_merge_takes_a_foreign_set_and_says_that_it_is_one(tmp_path: Path) -> None:
    foreign = write_foreign(tmp_path / "foreign", kernel("bb"), kernel("bb", x="div16", assumes16=False, alias=True), target="sm_121")
    assert foreign.foreign and "another tool wrote this set" in foreign.notes[0]
    merged = merge([("foreign", foreign), ("ours", write(tmp_path / "ours", CONSTANTS[0]))], "error")
    taken = [(each.alias, each.params[0].assumes16) for each in merged.captured.kernels if each.hash == "bb"]
    assert taken == [(False, False), (True, False)]
    assert soundness(merged.captured.kernels) == []
    assert [record["foreign"] for record in merged.captured.provenance["merged"]].count(True) == 1


def test_merge_refuses_a_foreign_set_whose_claims_no_code_bears_out(tmp_path: Path) -> None:
    write_foreign(tmp_path / "foreign", entry(param("X", "*i32", "div16"), param("Y", "*i32"), hash="cc", sha256=kernel().sha256))
    path = tmp_path / "foreign" / "aot.json"
    document = json.loads(path.read_text())
    (first,) = document["kernels"]
    crossed = [parameter | {"div16": not parameter["div16"]} for parameter in first["params"]]
    path.write_text(json.dumps(document | {"target": "sm_121", "kernels": [first, first | {"params": crossed}]}))
    with pytest.raises(CaptureError, match="no entry of _f with the hash cc serves just what its cubin assumes"):
        merge([("foreign", read_set(tmp_path / "foreign")), ("ours", write(tmp_path / "ours", CONSTANTS[0]))], "error")


@pytest.mark.parametrize("conflict", ["error", "first", "newest"])
def test_merge_refuses_sets_that_contradict_each_other_in_what_a_cubin_assumes(tmp_path: Path, conflict: str) -> None:
    # Taken at the foreign set's word, the merged set would let any address to code for aligned ones.
    sets = [("ours", write(tmp_path / "ours", kernel("aa", x="div16"))), ("foreign", write_foreign(tmp_path / "foreign", kernel("aa"), target="sm_121"))]
    for order in permutations(sets):
        with pytest.raises(CaptureError) as raised:
            merge(order, conflict)  # type: ignore[arg-type]
        assert str(raised.value).startswith(f"{order[1][0]}: error: the cubin aa is compiled for _f(X: *i32 ")
        assert f"in {order[0][0]}; at most one is true: leave the other set out, or capture it anew" in str(raised.value)


def test_merge_refuses_sets_of_several_targets_whether_they_say_so_or_not(tmp_path: Path) -> None:
    ours = write(tmp_path / "ours", kernel())
    other = write(tmp_path / "other", kernel(), target="sm_90")
    with pytest.raises(CaptureError, match="these sets are for several targets: ours for sm_121, other for sm_90"):
        merge([("ours", ours), ("other", other)], "error")
    cubin = cubin_bytes(90, "_f")
    silent = write_foreign(tmp_path / "silent", kernel("dd", cubin), cubins={"dd": cubin})
    with pytest.raises(CaptureError, match="ours for sm_121, silent for sm_90"):
        merge([("ours", ours), ("silent", silent)], "error")


def test_merge_names_the_damaged_cubin_of_an_input(tmp_path: Path) -> None:
    sets = [(name, write(tmp_path / name, kernel(name * 32))) for name in ("aa", "bb")]
    cubin = tmp_path / f"bb/cubins/{'bb' * 32}.cubin"
    cubin.write_bytes(cubin.read_bytes() + b"x")
    with pytest.raises(CaptureError) as raised:
        merge(sets, "error")
    assert str(raised.value).startswith(f"{cubin}: error: its bytes are not those that aot.json records for _f") and raised.value.code == 3


def test_merge_refuses_a_set_without_entries(tmp_path: Path) -> None:
    (tmp_path / "aot.json").write_text('{"kernels": []}')
    with pytest.raises(CaptureError, match="this set has no entries"):
        merge([("empty", read_set(tmp_path))], "error")


def run(*arguments: object) -> object:
    """Run the command line as a user does; returns the exit code."""
    from click.testing import CliRunner

    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


def test_merge_may_write_over_one_of_its_inputs_and_harms_none_when_it_fails(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    write(one, CONSTANTS[0])
    write(two, CONSTANTS[0], CONSTANTS[1])
    before = {path: path.read_bytes() for path in sorted(two.rglob("*")) if path.is_file()}
    result = run("merge", one, two, "--out", one, "--json")
    assert result.exit_code == 0, result.output  # type: ignore[attr-defined]
    assert json.loads(result.output)["entries"] == 2  # type: ignore[attr-defined]
    assert len(read_set(one).captured.kernels) == 2
    assert {path: path.read_bytes() for path in sorted(two.rglob("*")) if path.is_file()} == before
    write(tmp_path / "three", with_constant(kernel(shared=64), SetConstant(none=True)))
    held = (one / "aot.json").read_bytes()
    assert isinstance(run("merge", one, tmp_path / "three", "--out", one).exception, CaptureError)  # type: ignore[attr-defined]
    assert run("merge", two, "--out", tmp_path / "four").output.startswith("1 set for sm_121: 2 entries (0 aliases), 2 cubins, ")  # type: ignore[attr-defined]
    assert (one / "aot.json").read_bytes() == held and sorted(path.name for path in tmp_path.iterdir()) == ["four", "one", "three", "two"]
