"""The needs of each family are those written out by hand, and follow the family where it changes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from build_capture.errors import CaptureError
from build_capture.plan.needs import Need
from tests.families.harness import FAMILIES, Family, copy_of, expected

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", FAMILIES)
def test_needs_of_each_family_are_those_written_by_hand(name: str, each_zig: str, cache: Path, tmp_path: Path) -> None:
    family = copy_of(name, tmp_path, each_zig, cache)
    arguments = ["--profile", str(family.folder / "capture.zon"), "--zig", each_zig, "--cache-dir", str(cache), "--json"]
    printed = subprocess.run([sys.executable, str(ROOT / "build_capture"), "needs", *arguments], capture_output=True, text=True, check=False)
    assert printed.returncode == 0, printed.stderr
    needs = msgspec.convert(json.loads(printed.stdout)["needs"], list[Need])
    assert sorted(need.identity for need in needs) == expected(name)


MUTATIONS = {
    "a larger first bucket": ("mla", "src/triton.zig", "@max(16,", "@max(32,", {"BM=int:16": "BM=int:32"}, []),
    "a lower bound": ("mla", "capture.zon", ".window_rows = 16", ".window_rows = 8", {}, ["BM=int:64"]),
    "a stricter condition": ("mla", "src/triton.zig", "plan.splits > 0", "plan.splits > 1", {}, ["SPLITS: i32 one"]),
    "another border of options": ("mla", "src/triton.zig", "tile <= 32", "tile <= 16", {"[BM=int:32, L=int:512] warps 4": "[BM=int:32, L=int:512] warps 8"}, []),
    "one type less": ("mla", "capture.zon", ', "*fp16"', "", {}, ["*fp16"]),
    "no padded graph": (
        "moe",
        "capture.zon",
        ".buckets = .{ 1, 2, 4, 8, 16 }",
        ".buckets = .{ 1, 2, 4, 8 }",
        {},
        ["R: i32 div16", "M: i32 div16, TILES: i32 any) [BM=int:32"],
    ),
    "other tiles": ("moe", "capture.zon", ".BM = .{ 8, 32 }", ".BM = .{32}", {"BM=int:8": "BM=int:32"}, []),
    "another formula": ("moe", "capture.zon", "ceil(pairs / 16)", "ceil(pairs / 64)", {"TILES: i32 any": "TILES: i32 one"}, []),
    "pointers that are always aligned": ("multi", "capture.zon", ".alignment = 8", ".alignment = .aligned", {}, ["X: *bf16 unaligned"]),
    "a mode less": ("multi", "src/shape.zig", "enum { causal, full }", "enum { causal }", {}, ["MODE=int:1"]),
    "the other side of a branch": (
        "generations",
        "src/triton.zig",
        "rows > 1",
        "rows < 2",
        {"_gen_declared(X: *bf16 aligned, W: i32 any": "_gen_declared(X: *bf16 aligned, W: i32 one"},
        [],
    ),
    "an int that is never 1": ("wide", "capture.zon", ".{ 1, 2, 16 }", ".{ 2, 16 }", {}, ["N1: i32 one"]),
}
"""What changes -> family, file, old text, new text, what each need changes to, and which needs are gone."""


@pytest.mark.parametrize("what", MUTATIONS)
def test_needs_follow_a_change_of_the_family(what: str, family: Callable[[str], Family]) -> None:
    name, file, old, new, renamed, gone = MUTATIONS[what]
    mutant = family(name)
    mutant.edit(file, old, new)
    want = set()
    for line in expected(name):
        for before, after in renamed.items():
            line = line.replace(before, after)
        if not any(part in line for part in gone):
            want.add(line)
    assert mutant.needs() == sorted(want)


def test_needs_refuse_a_launch_that_no_domain_reaches(family: Callable[[str], Family]) -> None:
    mutant = family("generations")
    mutant.edit("src/triton.zig", "rows > 1", "rows > 2")
    with pytest.raises(CaptureError, match=r"triton.zig:41:23: error: nothing within the limits reaches this launch of _gen_declared"):
        mutant.plan()


def test_needs_name_the_call_that_asks_first(family: Callable[[str], Family]) -> None:
    planned = family("mla").plan()
    need = next(need for need in planned.needs if "BM=int:64" in need.identity and "M: i32 any" in need.identity)
    witness = need.witness
    assert (witness.kind, witness.method, witness.layout) == ("call", "Tri.absorb", {"rows": 33, "latent": 512})
    assert need.launches == need.launches_of_calls == 30
    assert os.path.samefile(planned.profile.declarations, planned.profile.folder / "src" / "triton.zig")
