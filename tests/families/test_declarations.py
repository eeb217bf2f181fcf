"""`build-capture declarations` on each family, and what the declaration file of an engine may do wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable

import pytest

from build_capture.errors import CaptureError
from build_capture.plan import probe
from tests.families.harness import FAMILIES, HERE, Family

ROOT = HERE.parents[1]
Families = Callable[[str], Family]


def declarations(family: Family, *arguments: str, file: str = "triton.zig") -> subprocess.CompletedProcess[str]:
    """Run the command on a family's declaration file."""
    command = [sys.executable, str(ROOT / "build_capture"), "declarations", str(family.folder / "src" / file)]
    options = ["--zig", family.zig, "--cache-dir", str(family.cache), *arguments]
    return subprocess.run([*command, *options], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", FAMILIES)
def test_declarations_name_every_launch_with_its_line(family: Families, name: str) -> None:
    own = family(name)
    result = declarations(own, "--profile", str(own.folder / "capture.zon"), "--json")
    assert result.returncode == 0, result.stderr
    document = json.loads(result.stdout)
    listed = {(launch["file"], launch["line"], launch["function"]) for launch in document["launches"]}
    written = {
        (path.name, number, line.split('"')[1])
        for path in (own.folder / "src").glob("*.zig")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if ('("_' in line or 's, "_' in line) and "smallestConst" not in line
    }
    assert listed == written and listed
    assert {row["source"] for row in document["domains"]} <= {"given", "inferred", "rounds", "others"}


def test_declarations_show_what_is_given_inferred_and_missing_apart(family: Families) -> None:
    own = family("moe")
    bare = declarations(own)
    assert bare.returncode == 0, bare.stderr
    for words in ("4 launches", "12 inferred", "7 to be given, in .domains of capture.zon", '.@"gemm.pairs" = .{ .from = LEAST, .to = MOST },'):
        assert words in bare.stdout
    given = declarations(own, "--profile", str(own.folder / "capture.zon"))
    for words in ("6 given by capture.zon", "13 inferred", "rows * top_k", ".shared.scale of capture.zon", "the profile's .geometry.top_k"):
        assert words in given.stdout
    assert "to be given" not in given.stdout


def test_declarations_of_a_file_that_does_not_parse_are_zigs_own_error(family: Families) -> None:
    own = family("moe")
    own.edit("src/triton.zig", "pub const Tri = struct {", "pub const Tri = strukt {")
    result = declarations(own)
    assert result.returncode == 2
    assert "src/triton.zig:23:8: error: expected '}', found ':'" in result.stderr, result.stderr


def test_declarations_of_rounds_are_told_apart_in_one_line(family: Families) -> None:
    own = family("mixed")
    source = own.folder / "src"
    result = declarations(own, file="rounds.zig")
    what = "this is no declaration file: it imports build_capture, as a rounds.zig does"
    assert (result.returncode, result.stderr) == (2, f"{source}/rounds.zig: error: {what}; name the file that launches the kernels: {source}/triton.zig\n")


def test_declarations_of_a_file_without_launches_say_so(family: Families) -> None:
    own = family("moe")
    (own.folder / "src" / "triton.zig").write_text("pub const answer = 42;\n", encoding="utf-8")
    result = declarations(own)
    assert result.returncode == 2
    assert "no launch in this file or its siblings" in result.stderr


@pytest.mark.parametrize(
    ("old", "new", "name", "offer"),
    [
        (
            "const p = aot.ptr;",
            "const p = aot.pointer;",
            "cuda.aot.pointer",
            "cuda.aot offers Arg, Const, Error, Launch, Probe, Set, Value, Variant, cf, ci, float, int, ptr, word;",
        ),
        ("s: cuda.Stream,", "s: cuda.Stream, g: cuda.Graph = .{},", "cuda.Graph", "cuda offers Event, Stream, aot;"),
        ("t.set.runWith(", "t.set.runAll(", "cuda.aot.Set.runAll", "cuda.aot.Set offers find, findWith, run, runWith, smallestConst;"),
    ],
)
def test_name_that_the_stand_in_lacks_is_one_clear_error(family: Families, old: str, new: str, name: str, offer: str) -> None:
    mutant = family("mla")
    mutant.edit("src/triton.zig", old, new)
    with pytest.raises(CaptureError) as raised:
        mutant.plan()
    message = str(raised.value)
    assert f"the stand-in for the engine's module has no {name}; {offer} what needs more belongs into another file of the engine" in message
    assert "src/triton.zig:" in message and "\n" not in message


def test_method_that_panics_is_told_with_its_values(family: Families) -> None:
    mutant = family("mla")
    mutant.edit("capture.zon", ".domains = .{", ".domains = .{ .rows = .{ 0, 1 },")
    with pytest.raises(CaptureError, match="a call of Tri.absorb with rows=0 latent=512 panicked: "):
        mutant.plan()


def test_loop_without_an_end_is_told_with_its_round(family: Families, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "ROUND_SECONDS_MAX", 1)
    mutant = family("mixed")
    mutant.edit("src/rounds.zig", "    try tri.attend(", "    while (round.rows() == 3) if (round.rows() == 2) break;\n    try tri.attend(")
    with pytest.raises(CaptureError) as raised:
        mutant.plan()
    place, told = str(raised.value).splitlines()
    assert place == f"error: running the probe of {mutant.folder / 'src' / 'rounds.zig'}: probe failed (exit 2)"
    assert told == (
        "    error: a decode round of 2 streams, 3 rows (windows 2 1) has not ended within 1 s; expected it to launch and come back; "
        "look for a loop without an end in `layouts` or `drive` of rounds.zig, or in a method that they call"
    )


def test_method_out_of_reach_is_refused_with_the_line_to_add(family: Families) -> None:
    mutant = family("multi")
    mutant.edit("src/triton.zig", "pub const tri_basic", "const tri_basic")
    mutant.edit("src/triton.zig", "pub const Tri", "const Tri")
    with pytest.raises(CaptureError) as raised:
        mutant.plan()
    message = str(raised.value)
    assert "tri_basic.zig:17:9: error: Tri.copy is out of reach" in message
    assert 'add `pub const tri_basic = @import("tri_basic.zig");` there' in message
    assert "Tri.run is" not in message


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("pub fn pair(t: Tri, sides: [2]i32)", "pub fn pair(t: Tri, sides: []const i32)", "no domain can give sides of pair: its type is []const i32"),
        ("pub fn pair(t: Tri, sides: [2]i32)", "pub fn pair(t: Tri, comptime sides: [2]i32)", "no domain can give sides of pair: its type is anytype or comptime"),
    ],
)
def test_type_that_no_domain_can_give_is_refused_by_name(family: Families, old: str, new: str, message: str) -> None:
    mutant = family("multi")
    mutant.edit("src/triton.zig", old, new)
    with pytest.raises(CaptureError) as raised:
        mutant.plan()
    assert message in str(raised.value)
