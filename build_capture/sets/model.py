"""The model of `aot.json`, in the format that engines read."""

from __future__ import annotations

from typing import Any

import msgspec


class SetParameter(msgspec.Struct, frozen=True):
    """A runtime parameter of a captured kernel, in launch order."""

    name: str
    type: str
    div16: bool
    """Compiled for a multiple of 16 (of a pointer: a 16-byte aligned address)."""
    nospec: bool
    """Whether any value fits, whatever its class."""


class SetConstant(msgspec.Struct, frozen=True, omit_defaults=True):
    """A constant of a captured kernel: exactly one field is set."""

    whole: int | None = msgspec.field(default=None, name="int")
    """An int or a bool."""
    f32: int | None = None
    """The bits of an fp32 value, as an unsigned int."""
    none: bool | None = None


class SetKernel(msgspec.Struct, frozen=True):
    """One entry of a set."""

    fn: str
    hash: str
    """Triton's hash of the compiled kernel; the cubin's file name."""
    name: str
    """The entry symbol."""
    num_warps: int
    num_stages: int
    num_ctas: int
    warp_size: int
    shared: int
    """Dynamic shared memory in bytes."""
    global_scratch: int
    global_align: int
    profile_scratch: int
    pdl: bool
    params: list[SetParameter]
    consts: dict[str, SetConstant]
    sha256: str
    """Of the cubin; engines ignore it, checks use it."""
    requested: dict[str, int]
    """The launch options that were asked for: they identify the variant; the fields above say what the launch uses."""
    kinds: dict[str, str]
    """The kind of each constant whose form in `consts` does not tell: bool, f64."""
    texts: dict[str, str]
    """Constants that are strings: no launch can name one, so `consts`, which engines read, leaves them out."""


class CapturedSet(msgspec.Struct, frozen=True):
    """The whole of `aot.json`."""

    generator: dict[str, str]
    target: str
    policy: str
    provenance: dict[str, Any]
    kernels: list[SetKernel]
