"""The model of `aot.json`, in the format that engines read."""

from __future__ import annotations

import struct
from collections.abc import Collection
from typing import Any

import msgspec

from build_capture.capture.records import Code

SOURCES = ("profile", "declarations", "kernels")
"""The parts of a set's provenance that hold hashes of source files."""


class SetParameter(msgspec.Struct, frozen=True):
    """A runtime parameter of a captured kernel, in launch order."""

    name: str
    type: str
    """Triton's type: `*bf16`, `i32`, `i64`, `u64`, `fp32`."""
    div16: bool
    """The entry serves multiples of 16 (of a pointer: 16-byte aligned addresses), and, unless `nospec`, nothing else."""
    nospec: bool
    """Whether any value of an int fits, whatever its class."""
    assumes16: bool
    """Whether the code was compiled for a multiple of 16. Engines ignore it; no entry may serve a value that breaks it."""

    @property
    def is_pointer(self) -> bool:
        """Whether it is a pointer, whose `div16` speaks of the address."""
        return self.type.startswith("*")

    @property
    def hint(self) -> str:
        """Which values the entry serves, in one word; empty for a float and a bool, which have no classes."""
        if self.is_pointer:
            return "aligned" if self.div16 else "unaligned"
        if self.type.startswith("fp") or self.type == "u1":
            return ""
        if self.nospec:
            return "div16 nospec" if self.div16 else "nospec"
        return "div16" if self.div16 else "any"

    def __str__(self) -> str:
        return f"{self.name}: {self.type} {self.hint}".rstrip()


class SetConstant(msgspec.Struct, frozen=True, omit_defaults=True):
    """A constant of a captured kernel: exactly one field is set."""

    whole: int | None = msgspec.field(default=None, name="int")
    """An int or a bool."""
    f32: int | None = None
    """The bits of an fp32 value, as an unsigned int."""
    none: bool | None = None

    @property
    def form(self) -> tuple[str, int]:
        """How engines compare it: `none`, `int` or `f32`, and the value or its bits."""
        if self.none:
            return "none", 0
        return ("int", self.whole or 0) if self.f32 is None else ("f32", self.f32)

    @property
    def python(self) -> int | float | None:
        """The value that it stands for, as far as a set records it."""
        if self.f32 is not None:
            return float(struct.unpack("<f", struct.pack("<I", self.f32))[0])
        return self.whole


class SetKernel(Code, frozen=True):
    """One entry of a set."""

    params: list[SetParameter]
    consts: dict[str, SetConstant]
    sha256: str
    """Of the cubin; engines ignore it, checks use it. Empty where the set does not record it."""
    requested: dict[str, int]
    """The launch options that were asked for: they identify the variant; the fields above say what the launch uses."""
    kinds: dict[str, str]
    """The kind of each constant whose form in `consts` does not tell: bool, f64."""
    texts: dict[str, str]
    """Constants that are strings: no launch can name one, so `consts`, which engines read, leaves them out."""
    alias: bool = False
    """False: the entry of the specialization that was compiled. True: a further one, by which the same cubin serves more launches."""
    seal: str = ""
    """The SHA-256 of the entry's canonical text (see seal.py); empty in a set of another tool."""

    @property
    def constants(self) -> dict[str, str]:
        """Every constant with its kind, as messages and identities write it: `FLAG` -> `bool:True`."""
        return {name: self._show_constant(name) for name in sorted(self.consts)} | {name: f"text:{text!r}" for name, text in sorted(self.texts.items())}

    @property
    def identity(self) -> str:
        """What tells entries apart: function, parameter types and classes, constants with their kinds, options asked for."""
        constants = ", ".join(f"{name}={value}" for name, value in sorted(self.constants.items()))
        options = f"warps {self.requested['num_warps']}, stages {self.requested['num_stages']}"
        return f"{self.fn}({', '.join(map(str, self.params))}) [{constants}] {options}"

    def _show_constant(self, name: str) -> str:
        constant = self.consts[name]
        if constant.none:
            return "none:None"
        if self.kinds.get(name) == "bool":
            return f"bool:{bool(constant.whole)}"
        kind = self.kinds.get(name, "int" if constant.f32 is None else "f32")
        if constant.python != constant.python:
            # Two that are no number may still be of other bits, which engines compare.
            return f"{kind}:nan:{constant.f32:#x}"
        return f"{kind}:{constant.python!r}"


def first_difference(left: SetKernel, right: SetKernel, leaving_out: Collection[str]) -> str:
    """The first field in which two entries differ; empty where none does."""
    names = [name for name in SetKernel.__struct_fields__ if name not in leaving_out]
    return next((name for name in names if getattr(left, name) != getattr(right, name)), "")


class CapturedSet(msgspec.Struct, frozen=True):
    """The whole of `aot.json`."""

    generator: dict[str, str]
    target: str
    """`sm_121`; empty where the set does not say."""
    policy: str
    """exact, compact or total: which aliases it holds; empty where the set does not say."""
    provenance: dict[str, Any]
    kernels: list[SetKernel]
