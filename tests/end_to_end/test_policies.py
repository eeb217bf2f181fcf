"""The policies on the qwen27 family, with what an earlier capture has compiled."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import msgspec
import pytest

from build_capture.plan.needs import Need
from build_capture.sets.match import Argument, Index, Launch, match
from build_capture.sets.model import SetKernel
from build_capture.sets.needed import launch_of
from build_capture.sets.read import read_set
from tests.end_to_end.conftest import Example

def taken(kernels: list[SetKernel], asked: list[Launch]) -> list[SetKernel]:
    """What each launch takes under the exact rule; each takes something."""
    found = [match(Index(kernels), each, "exact").kernel for each in asked]
    assert all(found)
    return [kernel for kernel in found if kernel]


@pytest.fixture(scope="module")
def asked(captured: Example) -> list[Launch]:
    """A launch for each need."""
    document = captured.command_line("needs", "--profile", captured.folder / "capture.zon", "--parallel", "16")
    found = [launch_of(need) for need in msgspec.convert(document["needs"], list[Need])]
    assert len(found) == 37
    return found


def capture(captured: Example, policy: str, out: Path) -> tuple[list[SetKernel], dict[str, object]]:
    """The entries of a set under a policy, and what the capture tells of its cost."""
    profile = captured.folder / "capture.zon"
    summary = captured.command_line("capture", "--profile", profile, "--parallel", "16", "--policy", policy, "--out", out)
    return read_set(out).captured.kernels, summary["policy"]


def test_compact_serves_every_need_from_fewer_than_half_of_the_cubins(captured: Example, asked: list[Launch], tmp_path: Path) -> None:
    kernels, cost = capture(captured, "compact", tmp_path / "set")
    assert (cost["cubins"], cost["entries"], cost["apart"]) == (16, 36, [])
    # Which tables and ints lose their hints is derived: nobody named them.
    weaker = cost["weaker"]
    assert isinstance(weaker, list)
    assert {name for each in weaker for name in each["lost"]} == {"IDS", "WIN", "SID", "STREAM", "ITEMS", "ROWS", "PARENTS", "W"}
    for kernel in taken(kernels, asked):
        assert all(p.assumes16 for p in kernel.params if p.type in ("*bf16", "*fp32")), "data keeps its hints"


def test_total_serves_what_exact_serves_with_the_same_code_and_every_w_and_table_besides(captured: Example, asked: list[Launch], tmp_path: Path) -> None:
    kernels, cost = capture(captured, "total", tmp_path / "set")
    exact = read_set(captured.installed).captured.kernels
    assert [each.hash for each in taken(kernels, asked)] == [each.hash for each in taken(exact, asked)]
    assert cost["weaker"] == [] and isinstance(cost["cubins"], int) and cost["cubins"] > len(exact)
    index, tried = Index(kernels), 0
    for each in asked:
        tables = [a.name for a in each.arguments if a.type in ("*i32", "*i64")]
        whole = [a.name for a in each.arguments if a.type == "i32"]
        for addresses, value in product(product((0x7000, 0x7004), repeat=len(tables)), (0, 1, 2, 16, *range(257, 4097, 331), 4096) if whole else [0]):
            values = dict(zip(tables, addresses, strict=True)) | dict.fromkeys(whole, value)
            arguments = tuple(Argument(a.name, a.type, values.get(a.name, a.value)) for a in each.arguments)
            assert match(index, Launch(each.function, arguments, each.constexprs), "exact").kernel is not None, (each.function, values)
            tried += 1
    assert tried > 4000
