"""What is wrong with a cubin for the entries of a set that name it, in the words of zig_bridge/verify/cubin.zig."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence

import msgspec

from build_capture.capture.records import Result
from build_capture.errors import CaptureError
from build_capture.files import sha256_of_bytes
from build_capture.sets.elf import Cubin, ElfProblem, EntryParameter, parse_cubin
from build_capture.sets.model import SetKernel
from build_capture.sets.read import ReadSet
from build_capture.targets import Target

HIDDEN_PARAMETERS = ("the global scratch pointer", "the profile scratch pointer")
"""What Triton lets every entry take after its runtime parameters. A set's reader refuses scratch itself."""

_NUMBER = re.compile(r"[bfipu]+(1|8|16|32|64)")
"""Triton's types of numbers, by their bits: i32, u1, fp16, bf16, f32."""


class Inspected(msgspec.Struct, frozen=True):
    """One cubin, opened."""

    cubin: Cubin | None
    """None where it is no cubin, or not the one that was captured."""
    problems: list[str]
    """What is wrong with it for any of the entries that name it, a sentence each, without repeats."""


def inspect(data: bytes, kernels: Sequence[SetKernel], target: Target) -> Inspected:
    """Open one cubin, which these entries name."""
    # Bytes that are not those recorded tell nothing of what was captured.
    if problem := problem_of_bytes(data, kernels):
        return Inspected(None, [problem])
    try:
        cubin = parse_cubin(data)
    except ElfProblem as problem:
        return Inspected(None, [str(problem)])
    return Inspected(cubin, list(dict.fromkeys(problem for kernel in kernels for problem in problems_of_entry(cubin, kernel, target))))


def problem_of_bytes(data: bytes, kernels: Sequence[SetKernel]) -> str:
    """That a cubin is not what some of the entries that name it record; empty where it is. Sets of other tools may record nothing."""
    sha256 = sha256_of_bytes(data)
    return next((f"its bytes are not those that aot.json records for {kernel.fn}" for kernel in kernels if kernel.sha256 not in ("", sha256)), "")


class InspectedSet(msgspec.Struct, frozen=True):
    """All cubins of a set, opened."""

    problems: list[tuple[str, str]]
    """The path of a cubin in the set's folder, and what is wrong with it, sorted."""
    other: int | None
    """The compute capability that all of them are for, where that is not the target's: then it is the set's own word that is
    wrong, or the whole set, and `problems` says it of none."""
    line_tables: set[bool]
    """Whether they hold line tables: both where some do."""


def inspect_set(read: ReadSet, target: Target, names: Container[str] | None = None) -> InspectedSet:
    """Open the cubins of a set; those of `names` where it is given, and else all: one that is not there is a problem then."""
    problems: list[tuple[str, str]] = []
    opened: dict[str, Inspected] = {}
    for name, kernels in read.by_cubin.items():
        if names is not None and name not in names:
            continue
        try:
            inspected = inspect(read.read_cubin(kernels[0]), kernels, target)
        except CaptureError as error:
            inspected = Inspected(None, [error.what])
        if inspected.cubin is None:
            problems += [(name, problem) for problem in inspected.problems]
        else:
            opened[name] = inspected
    cubins = [inspected.cubin for inspected in opened.values() if inspected.cubin]
    capabilities = {cubin.capability for cubin in cubins}
    other = capabilities.pop() if len(capabilities) == 1 and target.capability not in capabilities else None
    if other is None:
        problems += [(name, problem) for name, inspected in opened.items() for problem in inspected.problems]
    return InspectedSet(sorted(problems), other, {cubin.line_tables for cubin in cubins})


def problems_of_entry(cubin: Cubin, kernel: SetKernel | Result, target: Target) -> Iterator[str]:
    """What is wrong with a cubin for one entry, a sentence each. What the cubin does not say is not compared."""
    if cubin.capability != target.capability:
        yield f"its cubin is for sm_{cubin.capability}, not {target.name}"
        return
    if (function := cubin.functions.get(kernel.name)) is None:
        yield f"its cubin has no entry {kernel.name}"
        return
    if function.parameters is None:
        yield f"its cubin does not say how many parameters {kernel.name} takes"
    elif len(function.parameters) != len(kernel.params) + len(HIDDEN_PARAMETERS):
        yield (
            f"the entry {kernel.name} takes {len(function.parameters)} parameters; engines pass {len(kernel.params)} and "
            f"{len(HIDDEN_PARAMETERS)} scratch pointers"
        )
    elif problem := _problem_of_layout(function.parameters, kernel):
        yield problem
    for group, unit, taken, launched in (
        ("blocks", "threads", function.block, kernel.warp_size * kernel.num_warps),
        ("clusters", "blocks", function.cluster, kernel.num_ctas),
    ):
        if taken and taken != (launched, 1, 1):
            yield f"the entry {kernel.name} takes {group} of {' x '.join(map(str, taken))} {unit}; engines launch {launched} x 1 x 1"
    if (needed := kernel.shared + function.shared) > target.shared_bytes_max:
        yield f"{kernel.fn} needs {needed} bytes of shared memory; {target.name} has {target.shared_bytes_max} a block"


def _problem_of_layout(taken: Sequence[EntryParameter], kernel: SetKernel | Result) -> str | None:
    """The first parameter that an entry takes with another size, or from another place, than its type has; None where none
    does, or where a type is none that is known."""
    sizes = [_bytes_of(param.type) for param in kernel.params]
    by_ordinal = {parameter.ordinal: parameter for parameter in taken}
    names = [*(param.name for param in kernel.params), *HIDDEN_PARAMETERS]
    end = 0
    for ordinal, (name, size) in enumerate(zip(names, [*sizes, *(8 for _ in HIDDEN_PARAMETERS)], strict=True)):
        if size is None:
            return None
        offset = -(-end // size) * size
        if (found := by_ordinal.get(ordinal)) is None:
            return f"its cubin does not say where the entry {kernel.name} takes {name}"
        if (found.offset, found.bytes) != (offset, size):
            return f"the entry {kernel.name} takes {name} as {found.bytes} bytes at {found.offset}; engines pass {size} bytes at {offset}"
        end = offset + size
    return None


def _bytes_of(type_name: str) -> int | None:
    """How many bytes a parameter of a type takes; None for a type that is not known."""
    if type_name.startswith("*"):
        return 8
    number = _NUMBER.fullmatch(type_name)
    return max(1, int(number[1]) // 8) if number else None
