"""A broken profile is bound or refused with a message, never a crash."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from build_capture.errors import CaptureError, Exit
from build_capture.plan.domains import resolve_domains
from build_capture.plan.driver import write_driver
from build_capture.read.reader import read_profile
from build_capture.zig import find_reader, find_zig
from tests.families.harness import Family
from tests.read.mutations import mutations


@pytest.mark.parametrize("count", [100, pytest.param(2000, marks=pytest.mark.full)])
def test_mutated_domains_are_bound_or_refused(family: Callable[[str], Family], count: int) -> None:
    own = family("moe")
    callables = [choice.callable for choice in own.plan().domains.choices if choice.callable]
    reader = find_reader(None, find_zig(own.zig), own.cache)
    path = own.folder / "capture.zon"
    bound = 0
    for mutant in mutations(path.read_bytes(), count, seed=20261130):
        path.write_bytes(mutant)
        try:
            profile = read_profile(reader, path)
            driven = resolve_domains(callables, callables, profile, profile.limits)
            assert "pub fn driveDomains" in write_driver(driven, with_rounds=False)
            bound += 1
        except CaptureError as error:
            assert error.code == Exit.INPUT and "error: " in str(error), mutant
    assert 0 < bound < count
