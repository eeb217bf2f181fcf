"""Verifies the cubins of a set's folder against its entries."""

from __future__ import annotations

from collections.abc import Container, Iterator

from build_capture.errors import CaptureError
from build_capture.package.damage import damage
from build_capture.sets.inspect import inspect_set
from build_capture.sets.read import AOT_JSON, ReadSet
from build_capture.targets import Target


def check_cubins(found: ReadSet, there: Container[str], shown: str, target: Target) -> Iterator[CaptureError]:
    """What is wrong with the cubins that are there, one error each; `shown` is the folder's name in messages."""
    inspected = inspect_set(found, target, there)
    yield from (damage(problem, f"{shown}/{name}") for name, problem in inspected.problems)
    if inspected.other is not None:
        yield damage(f"`target` is {target.name}, and its cubins are for sm_{inspected.other}", f"{shown}/{AOT_JSON}")
    recorded = found.captured.provenance.get("line_info")
    if isinstance(recorded, bool) and (not recorded) in inspected.line_tables:
        holds = "some of its cubins hold line tables" if not recorded else "some of its cubins hold none"
        yield damage(f"`line_info` is {str(recorded).lower()}, and {holds}", f"{shown}/{AOT_JSON}")
