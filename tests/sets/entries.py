"""Small entries of sets and launches, for tests: what is not given is of no matter."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from build_capture.files import sha256_of_bytes
from build_capture.sets.launch import Argument, Launch, LaunchConstant
from build_capture.sets.model import CapturedSet, SetConstant, SetKernel, SetParameter
from build_capture.sets.seal import sealed

CUBIN = b"a cubin"


def param(name: str, type_: str = "i32", *hints: str, assumes16: bool | None = None) -> SetParameter:
    """A parameter; `hints` are of div16 and nospec. Its code assumes what `div16` says, unless told otherwise."""
    assert set(hints) <= {"div16", "nospec"}
    div16 = "div16" in hints
    return SetParameter(name, type_, div16, "nospec" in hints, div16 if assumes16 is None else assumes16)


def entry(*params: SetParameter, **changes: Any) -> SetKernel:
    """A sealed entry of `_f`. `consts` takes ints, floats (as fp32) and None; `warps` and `stages` are the options."""
    warps, stages = changes.pop("warps", 4), changes.pop("stages", 0)
    fields: dict[str, Any] = {
        "fn": "_f",
        "hash": "ab" * 32,
        "name": "_f",
        "num_warps": warps,
        "num_stages": stages,
        "num_ctas": 1,
        "warp_size": 32,
        "shared": 0,
        "global_scratch": 0,
        "global_align": 1,
        "profile_scratch": 0,
        "pdl": False,
        "params": list(params),
        "sha256": sha256_of_bytes(CUBIN),
        "requested": {"num_stages": stages, "num_warps": warps},
        "kinds": {},
        "texts": {},
    }
    consts = {name: constant(value) for name, value in changes.pop("consts", {}).items()}
    return sealed(SetKernel(**(fields | {"consts": consts} | changes)))


def constant(value: object) -> SetConstant:
    """A constant of a set: None, an int, or a float by its fp32 bits."""
    if value is None:
        return SetConstant(none=True)
    return SetConstant(f32=bits(value)) if isinstance(value, float) else SetConstant(whole=value)


def bits(value: float) -> int:
    """The bits of a float as fp32."""
    return int(struct.unpack("<I", struct.pack("<f", value))[0])


def set_of(*kernels: SetKernel) -> CapturedSet:
    """A set of these entries."""
    return CapturedSet(generator={"name": "build-capture", "version": "1"}, target="sm_121", policy="exact", provenance={}, kernels=list(kernels))


def launch(arguments: Sequence[Argument], constexprs: dict[str, int | float] | None = None, *, warps: int | None = None, stages: int | None = None) -> Launch:
    """A launch of `_f`."""
    named = ((name, value) for name, value in (constexprs or {}).items())
    constants = (LaunchConstant(name, "f32", bits(value)) if isinstance(value, float) else LaunchConstant(name, "int", value) for name, value in named)
    return Launch("_f", tuple(arguments), tuple(constants), warps, stages)


def pointer(name: str, address: int, type_: str = "*bf16") -> Argument:
    """A pointer argument."""
    return Argument(name, type_, address)


def whole(name: str, value: int) -> Argument:
    """An i32 argument."""
    return Argument(name, "i32", value)


def word(name: str, value: int) -> Argument:
    """A u64 argument."""
    return Argument(name, "u64", value)


def real(name: str, value: float) -> Argument:
    """A float argument."""
    return Argument(name, "fp32", bits(value))


def of_another_tool(document: dict[str, Any]) -> dict[str, Any]:
    """An aot.json as another tool writes it: of entries what engines read, and no more."""
    ours = ("sha256", "requested", "kinds", "texts", "alias", "seal", "assumes16")
    entries = [{name: value for name, value in kernel.items() if name not in ours} for kernel in document["kernels"]]
    for each in entries:
        each["params"] = [{name: value for name, value in parameter.items() if name not in ours} for parameter in each["params"]]
    return document | {"generator": "another", "kernels": entries}
