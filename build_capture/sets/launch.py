"""What a launch asks a set for."""

from __future__ import annotations

from typing import Literal

import msgspec


class Argument(msgspec.Struct, frozen=True):
    """A runtime argument of a launch."""

    name: str
    type: str
    """Triton's: a pointer's, such as `*bf16`, or `i32`, `u64`, `fp32`, which are all that a launch in Zig can pass."""
    value: int
    """A pointer's address, an int's value, a float's fp32 bits."""

    @property
    def divisible(self) -> bool:
        """Whether a pointer or an int is a multiple of 16; 0 and negative multiples are."""
        return self.value % 16 == 0


class LaunchConstant(msgspec.Struct, frozen=True):
    """A constexpr that a launch names."""

    name: str
    kind: Literal["int", "f32"]
    value: int
    """An int or a bool; of a float its fp32 bits."""


class Launch(msgspec.Struct, frozen=True):
    """A launch, as an engine asks a set for a variant of it."""

    function: str
    arguments: tuple[Argument, ...]
    constexprs: tuple[LaunchConstant, ...]
    num_warps: int | None = None
    """The warps that the call site pins; None leaves the choice to the set."""
    num_stages: int | None = None
