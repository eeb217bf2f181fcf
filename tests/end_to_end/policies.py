"""Captures of the example under a policy, and what its launches take of them."""

from __future__ import annotations

from pathlib import Path

from build_capture.pipeline.plan import Request, plan
from build_capture.sets.match import Index, Launch, match
from build_capture.sets.model import SetKernel
from build_capture.sets.needed import launches_of
from build_capture.sets.read import read_set
from tests.end_to_end.conftest import Example, zig_executable


def asked_of(captured: Example) -> list[Launch]:
    """A launch for each need of the example."""
    request = Request(captured.folder / "capture.zon", 16, None, target=None, zig=zig_executable("0.16"), reader=None, cache=None)
    found = [launch for _, launch in launches_of(plan(request))]
    assert len(found) == 37
    return found


def capture(captured: Example, policy: str, out: Path) -> tuple[list[SetKernel], dict[str, object]]:
    """The entries of a set under a policy, and what the capture tells of its cost."""
    profile = captured.folder / "capture.zon"
    summary = captured.command_line("capture", "--profile", profile, "--parallel", "16", "--policy", policy, "--out", out)
    return read_set(out).captured.kernels, summary["policy"]


def taken(kernels: list[SetKernel], asked: list[Launch]) -> list[SetKernel]:
    """What each launch takes under the exact rule; each takes something."""
    found = [match(Index(kernels), each, "exact").kernel for each in asked]
    assert all(found)
    return [kernel for kernel in found if kernel]
