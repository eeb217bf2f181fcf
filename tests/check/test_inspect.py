"""What is wrong with a cubin for its entries, and what cubins say of themselves."""

from __future__ import annotations

import random

import pytest

from build_capture.files import sha256_of_bytes
from build_capture.sets.elf import ElfProblem, EntryParameter, Function, parse_cubin
from build_capture.sets.inspect import inspect
from build_capture.sets.model import SetKernel
from build_capture.targets import Target, parse_target
from tests.sets.cubins import cubin_bytes
from tests.sets.entries import entry, param

SM_121, SM_90, SM_80 = map(parse_target, ("sm_121", "sm_90", "sm_80"))
KIB = 1024


SIZES = (8, 4, 8, 8)
"""Of the parameters of `_f`: a pointer, an int, and Triton's two scratch pointers."""


def entry_of(cubin: bytes, **changes: object) -> SetKernel:
    """An entry of `_f`, which takes a pointer and an int, with this cubin."""
    return entry(param("X", "*bf16"), param("n"), sha256=sha256_of_bytes(cubin), **changes)


GOOD = cubin_bytes(121, "_f", parameters=SIZES)


def problems_of(cubin: bytes, kernels: list[SetKernel], target: Target) -> list[str]:
    """What is wrong with a cubin for these entries."""
    return inspect(cubin, kernels, target).problems


def test_inspect_good() -> None:
    assert problems_of(GOOD, [entry_of(GOOD), entry_of(GOOD, alias=True)], SM_121) == []


@pytest.mark.parametrize(
    ("cubin", "want"),
    [
        (b"", "its cubin is not an ELF"),
        (b"\x7fELF", "its cubin is damaged: it is cut short, or its parts do not fit together"),
        (GOOD[:-1], "its cubin is damaged: it is cut short, or its parts do not fit together"),
        (cubin_bytes(121, "_f", machine=62), "its cubin is an ELF for another machine, not for CUDA"),
        (cubin_bytes(120, "_f", parameters=SIZES), "its cubin is for sm_120, not sm_121"),
        (cubin_bytes(90, "_f", parameters=SIZES), "its cubin is for sm_90, not sm_121"),
        (cubin_bytes(121, "_g", parameters=SIZES), "its cubin has no entry _f"),
        (cubin_bytes(121, "_f"), "its cubin does not say how many parameters _f takes"),
        # R18: a newer Triton adds a hidden parameter; engines would pass one too few.
        (cubin_bytes(121, "_f", parameters=(8, 4, 8, 8, 8)), "the entry _f takes 5 parameters; engines pass 2 and 2 scratch pointers"),
        (cubin_bytes(121, "_f", parameters=(8, 8, 8)), "the entry _f takes 3 parameters; engines pass 2 and 2 scratch pointers"),
        # What an engine passes would be read as something else.
        (cubin_bytes(121, "_f", parameters=(8, 8, 8, 8)), "the entry _f takes n as 8 bytes at 8; engines pass 4 bytes at 8"),
        (cubin_bytes(121, "_f", parameters=(4, 4, 8, 8)), "the entry _f takes X as 4 bytes at 0; engines pass 8 bytes at 0"),
        (cubin_bytes(121, "_f", parameters=(8, 4, 4, 8)), "the entry _f takes the global scratch pointer as 4 bytes at 12; engines pass 8 bytes at 16"),
        (cubin_bytes(121, "_f", parameters=(8, 4, 8, 4)), "the entry _f takes the profile scratch pointer as 4 bytes at 24; engines pass 8 bytes at 24"),
        (cubin_bytes(121, "_f", parameters=SIZES, ordinals=(0, 1, 1, 3)), "its cubin does not say where the entry _f takes the global scratch pointer"),
        (cubin_bytes(121, "_f", parameters=SIZES, ordinals=(0, 2, 1, 3)), "the entry _f takes n as 8 bytes at 16; engines pass 4 bytes at 8"),
        (cubin_bytes(121, "_f", parameters=SIZES, ordinals=(0, 1, 2, 9)), "its cubin does not say where the entry _f takes the profile scratch pointer"),
        (cubin_bytes(121, "_f", parameters=SIZES, block=(64, 1, 1)), "the entry _f takes blocks of 64 x 1 x 1 threads; engines launch 128 x 1 x 1"),
        (cubin_bytes(121, "_f", parameters=SIZES, block=(64, 2, 1)), "the entry _f takes blocks of 64 x 2 x 1 threads; engines launch 128 x 1 x 1"),
        (cubin_bytes(121, "_f", parameters=SIZES, cluster=(2, 1, 1)), "the entry _f takes clusters of 2 x 1 x 1 blocks; engines launch 1 x 1 x 1"),
    ],
)
def test_inspect_bad(cubin: bytes, want: str) -> None:
    # Two entries of one cubin are one problem.
    assert problems_of(cubin, [entry_of(cubin), entry_of(cubin)], SM_121) == [want]


def test_inspect_compares_every_type_that_a_kernel_can_take() -> None:
    # As Triton 3.6.0, 3.7.1 and 3.9.0 let ptxas lay them out.
    types = {"*fp32": 8, "fp16": 2, "bf16": 2, "fp64": 8, "i8": 1, "i16": 2, "u8": 1, "u1": 1, "u32": 4, "i64": 8, "fp32": 4}
    cubin = cubin_bytes(121, "_f", parameters=(*types.values(), 8, 8), block=(128, 1, 1))
    params = [param(f"p{number}", type_) for number, type_ in enumerate(types)]
    assert problems_of(cubin, [entry(*params, sha256="")], SM_121) == []
    # What follows a type that is not known is not compared.
    assert problems_of(cubin, [entry(*params[:3], param("t", "tensordesc"), *params[:3], *params[7:], sha256="")], SM_121) == []
    assert "takes p1 as 2 bytes at 8" in problems_of(cubin, [entry(params[0], param("p1"), *params[2:], sha256="")], SM_121)[0]


def test_inspect_other_bytes() -> None:
    # R21: one byte of a packaged cubin flipped.
    flipped = GOOD[:-1] + bytes([GOOD[-1] ^ 1])
    assert problems_of(flipped, [entry_of(GOOD)], SM_121) == ["its bytes are not those that aot.json records for _f"]
    # A set that records no hashes is looked into all the same.
    other = cubin_bytes(120, "_f", parameters=SIZES)
    assert problems_of(other, [entry(param("X", "*bf16"), param("n"), sha256="")], SM_121) == ["its cubin is for sm_120, not sm_121"]


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
    cubin = cubin_bytes(capability, "_f", parameters=SIZES, shared=section)
    target = {121: SM_121, 90: SM_90, 80: SM_80}[capability]
    problems = problems_of(cubin, [entry_of(cubin, shared=dynamic)], target)
    assert (problems == []) is fits
    assert fits or f"bytes of shared memory; {target.name} has {target.shared_bytes_max} a block" in problems[0]


def test_parse_cubin_reads_all() -> None:
    cubin = parse_cubin(cubin_bytes(120, "_f", parameters=(8, 2), block=(64, 1, 1), cluster=(2, 1, 1), shared=2 * KIB, line_tables=True))
    function = Function([EntryParameter(1, 8, 2), EntryParameter(0, 0, 8)], KIB, registers=None, local=None, block=(64, 1, 1), cluster=(2, 1, 1))
    assert (cubin.capability, cubin.functions, cubin.line_tables) == (120, {"_f": function}, True)
    assert not parse_cubin(cubin_bytes(80, "_f")).line_tables


def test_parse_cubin_survives_any_bytes() -> None:
    good = cubin_bytes(121, "_f", parameters=SIZES, shared=2 * KIB, line_tables=True)
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
