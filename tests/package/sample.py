"""A small set that is whole: two functions, three cubins and an alias."""

from __future__ import annotations

from pathlib import Path

from build_capture.files import sha256_of_bytes
from build_capture.sets.model import CapturedSet, SetKernel
from build_capture.sets.pack import write_set
from tests.sets.cubins import cubin_bytes
from tests.sets.entries import entry, param

SCRATCH_POINTERS = (8, 8)
"""The bytes of Triton's hidden parameters."""
COPY, COPY_ANY, ADD = ("a1" * 32, "b2" * 32, "c3" * 32)
"""The hashes of the cubins."""


def sample_cubins(capability: int) -> dict[str, bytes]:
    """The cubins by hash. `_copy` takes a pointer and an int, `_add` two pointers."""
    copy, add = {"parameters": (8, 4, *SCRATCH_POINTERS)}, {"parameters": (8, 8, *SCRATCH_POINTERS)}
    return {
        COPY: cubin_bytes(capability, "_copy", **copy),
        # The same but for a byte at the end, as another specialization of the same kernel would be.
        COPY_ANY: cubin_bytes(capability, "_copy", **copy) + b"\0",
        ADD: cubin_bytes(capability, "_add", **add),
    }


def sample_kernels(capability: int) -> list[SetKernel]:
    """The entries: each cubin's own, and an alias by which `_copy` for any n serves multiples of 16 at other addresses."""
    sha256 = {name: sha256_of_bytes(cubin) for name, cubin in sample_cubins(capability).items()}
    any_n = {"fn": "_copy", "name": "_copy", "hash": COPY_ANY, "sha256": sha256[COPY_ANY]}
    return [
        entry(param("X", "*bf16", "div16"), param("n", "i32", "div16"), fn="_copy", name="_copy", hash=COPY, sha256=sha256[COPY], shared=512),
        entry(param("X", "*bf16"), param("n", "i32"), **any_n),
        entry(param("X", "*bf16", assumes16=False), param("n", "i32", "div16", assumes16=False), alias=True, **any_n),
        entry(param("X", "*bf16", "div16"), param("Y", "*bf16", "div16"), fn="_add", name="_add", hash=ADD, sha256=sha256[ADD], consts={"BLOCK": 32}),
    ]


SOURCES = {"profile": {"capture.zon": "11" * 32}, "declarations": {"src/triton.zig": "22" * 32}, "kernels": {"copy.py": "33" * 32}}


def write_sample(folder: Path, capability: int = 121, family: str = "sample", sources: dict[str, dict[str, str]] = SOURCES) -> Path:
    """Write the set to `folder`, as captured from `sources`; returns it."""
    captured = CapturedSet(
        generator={"name": "build-capture", "version": "0.1.0"},
        target=f"sm_{capability}",
        policy="compact",
        provenance={
            "family": family,
            "limits": {"parallel": 16, "window_rows": 4, "prompt_rows": 0},
            "line_info": False,
            "toolchain": {"triton": "3.7.1", "ptxas": "13.1.80"},
            **sources,
        },
        kernels=sample_kernels(capability),
    )
    write_set(captured, sample_cubins(capability), folder)
    return folder
