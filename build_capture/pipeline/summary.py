"""What a capture tells of itself at its end."""

from __future__ import annotations

from pathlib import Path

import msgspec

from build_capture.capture.gpu.mode import Mode
from build_capture.capture.gpu.verify import GpuRecord
from build_capture.capture.policy.apply import Applied
from build_capture.capture.policy.cost import Cost, cost_of
from build_capture.pipeline.plan import Planned


class KernelSummary(msgspec.Struct, frozen=True):
    """What one kernel contributes to a set."""

    function: str
    needs: int
    variants: int
    aliases: int
    cubins: int
    bytes: int
    """Of its cubins."""
    seconds: float
    """Of compiling, when its variants were compiled, all workers added up."""


class Summary(msgspec.Struct, frozen=True):
    """What a capture did."""

    set: str
    family: str
    target: str
    mode: str
    rounds: int
    """How many rounds the limits allow, every layout of each counted."""
    launches: int
    """How many launches those rounds make."""
    needs: int
    variants: int
    cubins: int
    bytes: int
    """Of the whole set."""
    policy: Cost
    compiled: int
    reused: int
    wall_seconds: float
    kernels: list[KernelSummary]
    mode_reason: str = ""
    """Why `auto` took this mode; empty where the user asked for it."""
    gpu: GpuRecord | None = None
    """What mode `gpu` launched."""


def summary_of(
    planned: Planned, applied: Applied, mode: Mode, launched: GpuRecord | None, out: Path, total: int, wall_seconds: float
) -> Summary:
    """The summary of a capture whose set in `out` has `total` bytes."""
    kernels = []
    for function in sorted({variant.need.function for variant in applied.variants}):
        own = [variant for variant in applied.variants if variant.need.function == function]
        needs = sum(need.function == function for need in planned.needs)
        aliases = sum(alias.fn == function for alias in applied.aliases)
        cubins = {variant.result.hash: len(variant.cubin) for variant in own}
        seconds = sum(variant.result.seconds for variant in own)
        kernels.append(KernelSummary(function, needs, len(own), aliases, len(cubins), sum(cubins.values()), seconds))
    return Summary(
        set=str(out),
        family=planned.profile.family,
        target=planned.target.name,
        mode=mode.name,
        rounds=planned.probed.rounds,
        launches=planned.probed.launches,
        needs=len(planned.needs),
        variants=len(applied.variants),
        cubins=len({variant.result.hash for variant in applied.variants}),
        bytes=total,
        policy=cost_of(applied),
        compiled=applied.compiled,
        reused=applied.reused,
        wall_seconds=round(wall_seconds, 3),
        kernels=kernels,
        mode_reason=mode.why,
        gpu=launched,
    )
