"""Small sets on disk, made of entries of tests/sets/entries.py."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from build_capture.files import sha256_of_bytes
from build_capture.sets.model import SetConstant, SetKernel
from build_capture.sets.pack import write_set
from build_capture.sets.read import ReadSet, read_set
from build_capture.sets.seal import sealed
from tests.sets.cubins import cubin_bytes
from tests.sets.entries import entry, of_another_tool, param, set_of

FIRST, SECOND = cubin_bytes(121, "_f"), cubin_bytes(121, "_f") + b"\0"
"""Two cubins of one kernel that differ in their bytes alone."""


def kernel(digest: str = "aa", cubin: bytes = FIRST, *, x: str = "", alias: bool = False, assumes16: bool | None = None, **changes: Any) -> SetKernel:
    """An entry of `_f(X)`; `x` is div16 or empty."""
    hints = [x] if x else []
    return entry(param("X", "*i32", *hints, assumes16=assumes16), hash=digest, sha256=sha256_of_bytes(cubin), alias=alias, **changes)


def write(folder: Path, *kernels: SetKernel, cubins: dict[str, bytes] | None = None, **changes: Any) -> ReadSet:
    """A set of ours in a folder; the first cubin stands for every hash that has none."""
    files = {each.hash: FIRST for each in kernels} | (cubins or {})
    write_set(msgspec.structs.replace(set_of(*kernels), **changes), files, folder)
    return read_set(folder)


def write_foreign(folder: Path, *kernels: SetKernel, cubins: dict[str, bytes] | None = None, **top: Any) -> ReadSet:
    """A set as another tool writes it: the fields that engines read, and no more."""
    write(folder, *kernels, cubins=cubins)
    document = of_another_tool(json.loads((folder / "aot.json").read_text()))
    (folder / "aot.json").write_text(json.dumps(top | {"kernels": document["kernels"]}))
    return read_set(folder)


def with_constant(kernel_: SetKernel, constant: SetConstant | None, kind: str = "", text: str = "") -> SetKernel:
    """The entry with a constant FLAG of a kind, under a hash of its own."""
    digest = sha256_of_bytes(f"{constant}{kind}{text}".encode())
    consts = {} if constant is None else {"FLAG": constant}
    return sealed(
        msgspec.structs.replace(kernel_, hash=digest, consts=consts, kinds={"FLAG": kind} if kind else {}, texts={"FLAG": text} if text else {})
    )
