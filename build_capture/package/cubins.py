"""Verifies the cubins of a set's folder against its entries."""

from __future__ import annotations

from collections.abc import Container, Iterator

from build_capture.errors import CaptureError
from build_capture.files import sha256_of_bytes
from build_capture.package.damage import damage
from build_capture.sets.elf import Cubin, ElfProblem, parse_cubin
from build_capture.sets.inspect import problems_of_entry
from build_capture.sets.model import SetKernel
from build_capture.sets.read import AOT_JSON, ReadSet
from build_capture.targets import Target


def check_cubins(found: ReadSet, there: Container[str], shown: str, target: Target) -> Iterator[CaptureError]:
    """What is wrong with the cubins that are there, one error each; `shown` is the folder's name in messages."""
    by_cubin: dict[str, list[SetKernel]] = {}
    for kernel in found.captured.kernels:
        by_cubin.setdefault(found.cubin_name(kernel), []).append(kernel)
    targets: set[int] = set()
    line_tables: set[bool] = set()
    inspected: list[CaptureError] = []
    for name, kernels in sorted(by_cubin.items()):
        if name not in there:
            continue
        try:
            cubin = _read(found, kernels)
            targets.add(cubin.capability)
            line_tables.add(cubin.line_tables)
            problems = {problem: None for kernel in kernels for problem in problems_of_entry(cubin, kernel, target)}
            inspected += [damage(problem, f"{shown}/{name}") for problem in problems]
        except (CaptureError, ElfProblem) as problem:
            yield damage(problem.what if isinstance(problem, CaptureError) else str(problem), f"{shown}/{name}")
    if len(targets) == 1 and target.capability not in targets:
        # All of one other GPU: then it is the set's own word that is wrong, or the whole set.
        yield damage(f"`target` is {target.name}, and its cubins are for sm_{targets.pop()}", f"{shown}/{AOT_JSON}")
    else:
        yield from inspected
    recorded = found.captured.provenance.get("line_info")
    if isinstance(recorded, bool) and (not recorded) in line_tables:
        holds = "some of its cubins hold line tables" if not recorded else "some of its cubins hold none"
        yield damage(f"`line_info` is {str(recorded).lower()}, and {holds}", f"{shown}/{AOT_JSON}")


def _read(found: ReadSet, kernels: list[SetKernel]) -> Cubin:
    data = found.read_cubin(kernels[0])
    if any(kernel.sha256 and kernel.sha256 != sha256_of_bytes(data) for kernel in kernels):
        raise CaptureError(f"its bytes are not those that aot.json records for {kernels[0].fn}")
    return parse_cubin(data)
