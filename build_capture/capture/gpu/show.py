"""What a person sees of a capture in mode `gpu`."""

from __future__ import annotations

from rich.table import Table

from build_capture.capture.gpu.verify import GpuRecord
from build_capture.pipeline.summary import Summary


def mode_line(summary: Summary) -> str:
    """Which mode `auto` took, and why."""
    return f"mode auto took {summary.mode}: {summary.mode_reason}"


def launches_table(record: GpuRecord) -> Table:
    """Needs, those launched and verified, further code of a policy, launches, and the output nearest to its limit, by kernel."""
    table = Table(title=f"launched on {record.device}", title_justify="left", show_footer=True)
    table.add_column("kernel", footer="all")
    for heading, total in (
        ("needs", sum(kernel.needs for kernel in record.kernels)),
        ("launched", sum(kernel.launched for kernel in record.kernels)),
        ("verified", sum(kernel.verified for kernel in record.kernels)),
        ("further", sum(kernel.further for kernel in record.kernels)),
        ("launches", sum(kernel.launches for kernel in record.kernels)),
    ):
        table.add_column(heading, justify="right", footer=f"{total:,}")
    for heading in ("nearest to its limit", "error", "limit"):
        table.add_column(heading, justify="right")
    for kernel in record.kernels:
        worst = (kernel.output, f"{kernel.error:.1e}", f"{kernel.limit:.1e}") if kernel.launched else ("not launched", "-", "-")
        table.add_row(kernel.function, *(f"{count:,}" for count in (kernel.needs, kernel.launched, kernel.verified, kernel.further, kernel.launches)), *worst)
    return table


def launches_line(record: GpuRecord) -> str:
    """The comparison of what was recorded with what was enumerated, in one sentence."""
    rounds = (
        f"{record.rounds:,} rounds launched {record.round_specializations} specializations of {len(record.round_kernels)} kernels "
        f"{record.round_launches:,} times"
        if record.rounds
        else "the family serves no rounds"
    )
    absent = f"; no example, so compiled and not launched: {', '.join(record.not_launched)}" if record.not_launched else ""
    return (
        f"recorded {record.recorded}, enumerated {record.enumerated}, {record.differences} differences; compiled and launched agree in "
        f"signature, hints, options, hash and bytes; {rounds}{absent}"
    )
