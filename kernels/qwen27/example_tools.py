"""What the examples share: needs, the geometry, tensors at a chosen alignment, and comparisons."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

ROUNDED = 4e-3
"""Limit of ||got - want|| / ||want|| for a bf16 result: half a unit of its 8 bits, with room for bf16 inside."""
WIDE = 2e-5
"""The same for an fp32 result."""


@dataclass(frozen=True)
class Geometry:
    """The sizes that a model fixes; the defaults are the family's."""

    hidden: int = 5120
    intermediate: int = 17408
    block: int = 1024
    vocabulary: int = 248320
    key_heads: int = 16
    value_heads: int = 48
    delta_width: int = 128
    heads: int = 24
    kv_heads: int = 4
    width: int = 256
    half: int = 32
    slice: int = 64
    chunk: int = 512
    depth: int = 128
    eps: float = 1e-6


REAL = Geometry()
"""The family's geometry."""


@dataclass(frozen=True)
class Need:
    """What an example is made for."""

    rows: int = 1
    """W, the rows of the call."""
    streams: int = 1
    """Streams of the round."""
    misaligned: frozenset[str] = frozenset()
    """Pointer arguments that must not lie on 16 bytes; every other one does."""
    residual: bool = True
    """HAS_R of `_add_rmsnorm`."""
    stride: int | None = None
    """`ldx` of `_group_sums`; None is the width itself."""
    groups: int | None = None
    """KG of `_group_sums`; None is hidden / 64."""
    windows: tuple[int, ...] = ()
    """Rows of each stream's window, ``streams`` of them; empty deals ``rows`` out as evenly as they go."""
    committed: tuple[int, ...] = ()
    """Committed keys a stream, repeated as needed; empty takes lengths on and beside chunk and group boundaries."""
    branches: bool = True
    """Whether windows hold trees; without, chains."""
    padding: int = 1
    """Chunks a stream that the plan lists and the keys do not fill."""
    seed: int = 0
    """Of the random inputs."""
    geometry: Geometry = field(default=REAL)
    """The sizes."""

    @property
    def share(self) -> tuple[int, ...]:
        """Rows of each stream's window."""
        return self.windows or tuple(self.rows // self.streams + (stream < self.rows % self.streams) for stream in range(self.streams))


@dataclass(frozen=True)
class Compared:
    """One output against its reference."""

    what: str
    """The output's parameter name."""
    error: float
    """||got - want|| / ||want||; infinite where either holds a NaN."""
    limit: float
    """The largest error that passes."""


@dataclass(frozen=True)
class Example:
    """One launch with real tensors, and what must come of it."""

    kernel: Any
    """The Triton function."""
    options: dict[str, int]
    """Its launch options."""
    grid: tuple[int, ...]
    """Programs; a 0 in it is a launch that an engine leaves out."""
    arguments: dict[str, Tensor | int | float]
    """Every runtime argument by name, in the kernel's order."""
    constexprs: dict[str, int | float]
    """Every constexpr that a launch names."""
    check: Callable[[], list[Compared]]
    """Compares each output with the reference. Outputs are poisoned first, so what the launch left unwritten is an infinite error."""

    def run(self) -> list[Compared]:
        """Launch once and compare."""
        if all(self.grid):
            self.kernel[self.grid](**self.arguments, **self.constexprs, **self.options)
        return self.check()


class Maker:
    """Makes the tensors of one example: random, reproducible, each at the alignment that the need asks for."""

    def __init__(self, need: Need, device: str) -> None:
        self.need = need
        self.device = device
        self.random = torch.Generator(device).manual_seed(need.seed)

    def place(self, name: str, value: Tensor) -> Tensor:
        """``value`` in memory of its own, on 16 bytes unless ``name`` is to be misaligned."""
        skipped = int(name in self.need.misaligned)
        room = torch.empty(value.numel() + skipped, dtype=value.dtype, device=self.device)
        placed = room[skipped:].view(value.shape)
        placed.copy_(value)
        return placed

    def normal(self, name: str, *shape: int, dtype: torch.dtype = torch.bfloat16, scale: float = 1.0) -> Tensor:
        """Normally distributed values."""
        return self.place(name, (torch.randn(shape, generator=self.random, device=self.device) * scale).to(dtype))

    def integers(self, name: str, high: int, *shape: int, dtype: torch.dtype = torch.int32) -> Tensor:
        """Integers from 0 to high - 1."""
        return self.place(name, torch.randint(high, shape, generator=self.random, device=self.device).to(dtype))

    def table(self, name: str, words: list[int]) -> Tensor:
        """An int32 table."""
        return self.place(name, torch.tensor(words, dtype=torch.int32))

    def poisoned(self, name: str, *shape: int, dtype: torch.dtype = torch.bfloat16) -> Tensor:
        """An output full of NaNs, or of -7 for integers."""
        return self.place(name, torch.full(shape, math.nan if dtype.is_floating_point else -7, dtype=dtype, device=self.device))


def compare(what: str, got: Tensor, want: Tensor, limit: float) -> Compared:
    """The relative error of a whole output in float64."""
    got, want = got.double(), want.double()
    error = float((got - want).norm() / want.norm().clamp(min=1e-30))
    return Compared(what, error if math.isfinite(error) else math.inf, limit)
