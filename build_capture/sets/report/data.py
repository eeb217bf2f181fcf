"""All that a report shows, worked out once for the page, the picture, the terminal and `--json`."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from build_capture.pipeline.plan import Planned
from build_capture.plan.needs import Need
from build_capture.read.profile import Limits
from build_capture.sets.apart import Apart, tell_apart
from build_capture.sets.digest import digest
from build_capture.sets.elf import ElfProblem, Function, parse_cubin
from build_capture.sets.inspect import problem_of_bytes
from build_capture.sets.match import Policy
from build_capture.sets.model import SetKernel
from build_capture.sets.needed import launches_of
from build_capture.sets.read import ReadSet
from build_capture.sets.report.grid import FunctionGrid, Served, grids, serve
from build_capture.words import counted


class Entry(msgspec.Struct, frozen=True):
    """An entry of a set, for people."""

    number: int
    """Its place in the set, from 0."""
    function: str
    hints: str
    """What tells it apart from the plain case, all pointers aligned: `STREAM=unaligned W=any`."""
    constants: str
    """The constexprs in which the function's entries and needs differ."""
    options: str
    hash: str
    alias: bool
    bytes: int | None
    """Of its cubin; None, as all below, where the cubin cannot be read."""
    registers: int | None
    """Of a thread."""
    local_bytes: int | None
    """Of a thread's local memory: what did not fit into registers, and arrays."""
    shared_bytes: int
    """Dynamic and static, of a block."""
    needs: int
    """How many needs it serves."""


class Report(msgspec.Struct, frozen=True):
    """What a set holds and, where there is a profile, what it serves."""

    set: str
    folder: str
    digest: str
    target: str
    policy: str
    """Of the set: which aliases it holds."""
    rule: Policy
    """By which launches are matched."""
    notes: list[str]
    toolchain: dict[str, str]
    family: str | None
    limits: Limits | None
    missing: int
    """How many needs no entry serves."""
    general: int
    """How many are served only by code that assumes less."""
    needs: list[Need]
    """Without their spans, which the grids tell."""
    need_texts: list[str]
    """What tells each need apart, in the words of the entries: `W=any BM=16`."""
    grids: list[FunctionGrid]
    entries: list[Entry]
    changes: list[str]
    """What is different in another set, a line each."""


def make_report(read: ReadSet, planned: Planned | None, rule: Policy, changes: Sequence[str] = ()) -> Report:
    """Work a report out. Without a plan it tells of the entries alone."""
    kernels = read.captured.kernels
    needs = planned.needs if planned else []
    served = serve(launches_of(planned) if planned else (), kernels, rule)
    apart = tell_apart(kernels, needs)
    cubins = _open_cubins(read)
    return Report(
        set=os.fsencode(read.folder.resolve().name).decode(errors="backslashreplace"),
        folder=str(read.folder),
        digest=digest(read),
        target=read.captured.target,
        policy=read.captured.policy,
        rule=rule,
        notes=[*read.notes, *(f"{name}: {cubin.problem}" for name, cubin in cubins.items() if cubin.problem)],
        toolchain=_tools(read.captured.provenance.get("toolchain")),
        family=planned.profile.family if planned else None,
        limits=planned.limits if planned else None,
        missing=sum(got.kind in ("missing", "ambiguous") for got in served),
        general=sum(got.kind == "fallback" for got in served),
        needs=[msgspec.structs.replace(need, spans=[]) for need in needs],
        need_texts=[one.text for one in apart[len(kernels) :]],
        grids=grids(needs, served),
        entries=_entries(read, served, apart[: len(kernels)], cubins),
        changes=list(changes),
    )


def _tools(toolchain: Any) -> dict[str, str]:
    """The versions that a set records, by tool; another tool may record anything there."""
    if not isinstance(toolchain, dict):
        return {}
    given = " (named by the user)" if toolchain.get("ptxas_given") is True else ""
    return {name: f"{toolchain[name]}{given if name == 'ptxas' else ''}" for name in ("triton", "ptxas", "python", "zig") if name in toolchain}


class _Opened(NamedTuple):
    """A cubin of the set."""

    bytes: int | None = None
    """None where it is not there."""
    functions: dict[str, Function] = {}
    """None are known of what is no cubin."""
    problem: str = ""
    """That it is not what the set records; what is read from it is then not what was captured."""


def _open_cubins(read: ReadSet) -> dict[str, _Opened]:
    """Each cubin, by its path in the set's folder."""
    opened = {}
    for name, kernels in read.by_cubin.items():
        if not read.cubin_path(kernels[0]).is_file():
            opened[name] = _Opened()
            continue
        data = read.read_cubin(kernels[0])
        try:
            functions = parse_cubin(data).functions
        except ElfProblem:
            functions = {}
        opened[name] = _Opened(len(data), functions, problem_of_bytes(data, kernels))
    return opened


def _entries(read: ReadSet, served: Sequence[Served], told: Sequence[Apart], cubins: Mapping[str, _Opened]) -> list[Entry]:
    needs = Counter(got.entry for got in served)
    return [
        _entry(number, kernel, apart, cubins[read.cubin_name(kernel)], needs[number])
        for number, (kernel, apart) in enumerate(zip(read.captured.kernels, told, strict=True))
    ]


def _entry(number: int, kernel: SetKernel, apart: Apart, cubin: _Opened, needs: int) -> Entry:
    function = cubin.functions.get(kernel.name)
    return Entry(
        number=number,
        function=kernel.fn,
        hints=apart.hints,
        constants=apart.shown_constants,
        options=", ".join([counted(kernel.num_warps, "warp"), *([counted(kernel.num_stages, "stage")] if kernel.num_stages else [])]),
        hash=kernel.hash,
        alias=kernel.alias,
        bytes=cubin.bytes,
        registers=None if function is None else function.registers,
        local_bytes=None if function is None else function.local,
        shared_bytes=kernel.shared + (function.shared if function else 0),
        needs=needs,
    )
