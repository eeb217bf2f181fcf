"""A need: a specialization that some round within the limits launches, with one witness."""

from __future__ import annotations

import math
import struct
from enum import Enum
from typing import Any, Literal

import msgspec


class Class(str, Enum):
    """What Triton's specialization sees of a value."""

    ONE = "one"
    DIV16 = "div16"
    ANY = "any"
    ALIGNED = "aligned"
    UNALIGNED = "unaligned"


class Parameter(msgspec.Struct, frozen=True):
    """A runtime argument of a launch."""

    name: str
    type: str
    """Triton's type: `*bf16`, `i32`, `u64`, `fp32`."""
    class_: Class | None = msgspec.field(name="class")
    """Of an int: one, div16, any; of a pointer: aligned, unaligned; null for a float, which has no classes."""

    @property
    def hinted(self) -> bool:
        """Whether Triton may assume a multiple of 16."""
        return self.class_ in (Class.DIV16, Class.ALIGNED)


I64_MIN, I64_MAX = -(1 << 63), (1 << 63) - 1
"""What a set's ints can hold."""

FP32_MAX = 3.4028234663852886e38
"""The greatest finite fp32: (2 - 2^-23) * 2^127."""


def fp32_bits(value: float) -> int:
    """The bits of a number as fp32, as an unsigned int: how launches and sets hold floats."""
    return int(struct.unpack("<I", struct.pack("<f", value))[0])


class Constant(msgspec.Struct, frozen=True):
    """The value of a constexpr, with its kind."""

    kind: Literal["int", "bool", "f32", "f64", "text", "none"]
    """`f32` is a float that a launch names, `f64` one that a kernel's default gives."""
    value: bool | int | str | None
    """The value; of a float its bits, as an unsigned int."""

    @classmethod
    def of(cls, value: object) -> Constant | None:
        """The constant for a Python value, or None where a set cannot hold such a value."""
        if value is None:
            return cls("none", None)
        if isinstance(value, bool):
            return cls("bool", value)
        if isinstance(value, int):
            return cls("int", value) if I64_MIN <= value <= I64_MAX else None
        if isinstance(value, float):
            # Engines compare floats by their fp32 bits, which a greater one has none of.
            if math.isfinite(value) and abs(value) > FP32_MAX:
                return None
            return cls("f64", struct.unpack("<Q", struct.pack("<d", value))[0])
        return cls("text", value) if isinstance(value, str) else None

    @property
    def python(self) -> bool | int | float | str | None:
        """The Python value that Triton compiles with."""
        if self.kind == "f32":
            return float(struct.unpack("<f", struct.pack("<I", self.value))[0])
        if self.kind == "f64":
            return float(struct.unpack("<d", struct.pack("<Q", self.value))[0])
        return self.value

    def __str__(self) -> str:
        return f"{self.kind}:{self.python!r}"


class Options(msgspec.Struct, frozen=True):
    """Launch options: part of a variant's identity."""

    num_warps: int
    num_stages: int


class Witness(msgspec.Struct, frozen=True):
    """The first round, or call over domains, that asks for a need."""

    kind: str
    """`decode`, `prompt`, or `call`: of a method that no round drives."""
    streams: int
    rows: int
    """W: the rows of the whole round."""
    windows: list[int]
    """Rows of each stream's window."""
    layout: dict[str, Any]
    """The consumer's own part of the round's shape, such as its number of items; of a call, its parameters."""
    grid: list[int] | None
    """Of that launch; null where the declarations only ask whether the variant is there."""
    values: list[dict[str, str]]
    """Each argument's name and value in that launch."""
    method: str | None = None
    """Of a call: the method."""


class Span(msgspec.Struct, frozen=True):
    """Rounds of one kind and number of streams that differ in their rows: every number from the first to the last."""

    kind: str
    """`decode` or `prompt`."""
    streams: int
    rows_first: int
    rows_last: int
    """W, the rows of all windows."""


class Need(msgspec.Struct, frozen=True):
    """A specialization that some round within the limits launches."""

    function: str
    parameters: list[Parameter]
    """Every runtime argument, in the kernel's order; one of class `one` is folded by Triton."""
    constexprs: dict[str, Constant]
    """Every constexpr, the kernel's own defaults included."""
    options: Options
    launches: int
    """How many launches have this specialization."""
    witness: Witness
    launches_of_calls: int = 0
    """How many of them came from calls over domains, not from rounds."""
    spans: list[Span] = []
    """Which rounds ask for it, where that was asked."""

    @property
    def identity(self) -> str:
        """The one identity of a variant: function, options, constexprs with their kinds, parameter types and classes."""
        constants = ", ".join(f"{name}={value}" for name, value in sorted(self.constexprs.items()))
        return f"{self.function}({', '.join(map(show_parameter, self.parameters))}) [{constants}] {show_options(self.options)}"

    @property
    def classes(self) -> str:
        """A short text for people: the classes that are not the plain aligned pointer."""
        odd = [f"{p.name}={p.class_.value}" for p in self.parameters if p.class_ not in (None, Class.ALIGNED)]
        return " ".join(odd) or "aligned"


def show_parameter(parameter: Parameter) -> str:
    """A parameter as messages and identities write it: `W: i32 div16`."""
    suffix = f" {parameter.class_.value}" if parameter.class_ else ""
    return f"{parameter.name}: {parameter.type}{suffix}"


def show_options(options: Options) -> str:
    """Launch options as messages and identities write them."""
    return f"warps {options.num_warps}, stages {options.num_stages}"
