"""What is wrong with a cubin for its entries, and what cubins say of themselves."""

from __future__ import annotations

import random

import pytest

from build_capture.files import sha256_of_bytes
from build_capture.sets.elf import ElfProblem, Function, parse_cubin
from build_capture.sets.inspect import inspect
from build_capture.sets.model import SetKernel
from build_capture.targets import parse_target
from tests.sets.cubins import cubin_bytes
from tests.sets.entries import entry, param

SM_121, SM_90, SM_80 = map(parse_target, ("sm_121", "sm_90", "sm_80"))
KIB = 1024


def entry_of(cubin: bytes, **changes: object) -> SetKernel:
    """An entry of `_f`, which takes a pointer and an int, with this cubin."""
    return entry(param("X", "*bf16"), param("n"), sha256=sha256_of_bytes(cubin), **changes)


GOOD = cubin_bytes(121, "_f", parameters=4)


def test_inspect_good() -> None:
    assert inspect(GOOD, [entry_of(GOOD), entry_of(GOOD, alias=True)], SM_121) == []


@pytest.mark.parametrize(
    ("cubin", "want"),
    [
        (b"", "its cubin is not an ELF"),
        (b"\x7fELF", "its cubin is damaged: it is cut short, or its parts do not fit together"),
        (GOOD[:-1], "its cubin is damaged: it is cut short, or its parts do not fit together"),
        (cubin_bytes(121, "_f", machine=62), "its cubin is an ELF for another machine, not for CUDA"),
        (cubin_bytes(120, "_f", parameters=4), "its cubin is for sm_120, not sm_121"),
        (cubin_bytes(90, "_f", parameters=4), "its cubin is for sm_90, not sm_121"),
        (cubin_bytes(121, "_g", parameters=4), "its cubin has no entry _f"),
        (cubin_bytes(121, "_f"), "its cubin does not say how many parameters _f takes"),
        # R18: a newer Triton adds a hidden parameter; engines would pass one too few.
        (cubin_bytes(121, "_f", parameters=5), "the entry _f takes 5 parameters; engines pass 2 and 2 scratch pointers"),
        (cubin_bytes(121, "_f", parameters=3), "the entry _f takes 3 parameters; engines pass 2 and 2 scratch pointers"),
    ],
)
def test_inspect_bad(cubin: bytes, want: str) -> None:
    # Two entries of one cubin are one problem.
    assert inspect(cubin, [entry_of(cubin), entry_of(cubin)], SM_121) == [want]


def test_inspect_other_bytes() -> None:
    # R21: one byte of a packaged cubin flipped.
    flipped = GOOD[:-1] + bytes([GOOD[-1] ^ 1])
    assert inspect(flipped, [entry_of(GOOD)], SM_121) == ["its bytes are not those that aot.json records for _f"]
    # A set that records no hashes is looked into all the same.
    other = cubin_bytes(120, "_f", parameters=4)
    assert inspect(other, [entry(param("X", "*bf16"), param("n"), sha256="")], SM_121) == ["its cubin is for sm_120, not sm_121"]


@pytest.mark.parametrize(
    ("capability", "section", "dynamic", "fits"),
    [
        (121, 0, 99 * KIB, True),
        (121, 0, 99 * KIB + 1, False),
        # From sm_90 on the section counts the KiB that CUDA keeps, as the GPU's limit does not.
        (121, KIB, 99 * KIB, True),
        (121, KIB + 16, 99 * KIB, False),
        (90, KIB, 227 * KIB, True),
        (90, KIB + 16, 227 * KIB, False),
        (80, KIB, 162 * KIB, True),
        (80, KIB, 163 * KIB, False),
    ],
)
def test_inspect_shared_memory(capability: int, section: int, dynamic: int, fits: bool) -> None:
    cubin = cubin_bytes(capability, "_f", parameters=4, shared=section)
    target = {121: SM_121, 90: SM_90, 80: SM_80}[capability]
    problems = inspect(cubin, [entry_of(cubin, shared=dynamic)], target)
    assert (problems == []) is fits
    assert fits or f"bytes of shared memory; {target.name} has {target.shared_bytes_max} a block" in problems[0]


def test_parse_cubin_reads_all() -> None:
    cubin = parse_cubin(cubin_bytes(120, "_f", parameters=9, shared=2 * KIB, line_tables=True))
    assert (cubin.capability, cubin.functions, cubin.line_tables) == (120, {"_f": Function(9, KIB, registers=None, local=None)}, True)
    assert not parse_cubin(cubin_bytes(80, "_f")).line_tables


def test_parse_cubin_survives_any_bytes() -> None:
    good = cubin_bytes(121, "_f", parameters=4, shared=2 * KIB, line_tables=True)
    draw, problems = random.Random(4), 0
    for _ in range(4000):
        data = bytearray(good[: draw.randrange(len(good))] if draw.random() < 0.2 else good)
        for _ in range(draw.randrange(4)):
            if data:
                data[draw.randrange(len(data))] = draw.choice((0, 1, 0x7F, 0xFF, draw.randrange(256)))
        try:
            parse_cubin(bytes(data))
        except ElfProblem:
            problems += 1
    assert problems > 1000
