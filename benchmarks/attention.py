"""Times a round's three attention launches beside the figures of the engine's own kernels, on the GPU at hand.

    python benchmarks/attention.py [--json FILE] [--plot FILE] [--set _tail:num_warps=8 ...]
    python benchmarks/attention.py --from FILE --plot FILE

Each launch is timed alone, by events around the replay of a CUDA graph that holds it many times: medians, in microseconds.
Caches and partials are rotated through more memory than the L2 holds. With --from, nothing is measured and no GPU needed.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path

import torch
import triton

if __name__ == "__main__":
    sys.path.append(str(Path(__file__).resolve().parents[1] / "kernels"))

from qwen27 import own_keys, rounds, shared_keys, tree

HEADS, KV_HEADS, WIDTH, DEPTH = 24, 4, 256, 128
COPY_BANDWIDTH = 4.27e12
"""Bytes a second that a copy moves on the card of the engine's figures, read and written."""
ROTATED_BYTES = 160e6
"""What the rotated inputs of one launch add up to at least: over twice the 60 MB of L2."""

ROTATIONS_MOST = 64
"""Launches in a graph, so that each rotation is in it: as many as the shortest tails need to outgrow the L2."""


@dataclass(frozen=True)
class Case:
    """One round of the table, and what the engine's own kernels took for it (H200, Triton 3.6.0)."""

    committed: int
    streams: int
    rows: int
    engine: tuple[float, float, float]
    """Microseconds of _shared, _tail and _merge."""

    @property
    def floor(self) -> float:
        """Microseconds to read the committed keys and values once."""
        return self.committed * self.streams * KV_HEADS * WIDTH * 4 / COPY_BANDWIDTH * 1e6

    @property
    def name(self) -> str:
        """Committed keys x streams, rows each."""
        return f"{self.committed} x {self.streams}, {self.rows}"


CASES = (
    Case(75187, 1, 1, (107, 88, 90)),
    Case(75187, 1, 16, (423, 90, 28)),
    Case(75187, 2, 1, (176, 90, 95)),
    Case(75187, 4, 16, (1439, 95, 37)),
    Case(8192, 8, 1, (82, 38, 17)),
    Case(8192, 16, 16, (641, 183, 24)),
    Case(2048, 16, 1, (48, 39, 9)),
)


class Round:
    """The tensors of one case, and its launches in several rotations."""

    def __init__(self, case: Case, options: dict[str, dict[str, int]]) -> None:
        windows = [rounds.chain(case.committed, case.rows)] * case.streams
        self.rows = case.rows * case.streams
        made = rounds.tables(windows, [0] * self.rows, HEADS // KV_HEADS)
        words = {name: torch.tensor(made[name], dtype=torch.int32, device="cuda") for name in ("STREAM", "ITEMS", "ROWS", "PARENTS")}
        self.stream, self.items, self.row_streams = words["STREAM"], words["ITEMS"], words["ROWS"]
        self.options = options
        size = case.committed * KV_HEADS * WIDTH
        self.caches = max(1, math.ceil(ROTATED_BYTES / (size * 4 * case.streams)))
        tail_bytes = (case.committed % rounds.CHUNK + 1) * KV_HEADS * WIDTH * 4 * case.streams
        self.tails = min(ROTATIONS_MOST, math.ceil(ROTATED_BYTES / tail_bytes))
        slack = self.tails * rounds.CHUNK * KV_HEADS * WIDTH
        self.pool = torch.randn(self.caches * case.streams * 2 * size + slack, dtype=torch.bfloat16, device="cuda")
        self.offsets = [self.offsets_of(place * case.streams * 2 * size, size, case.streams) for place in range(self.caches)]
        # A tail reads far less than a cache: its rotations shift the caches by a chunk each.
        self.tail_offsets = [self.offsets[0] + place * rounds.CHUNK * KV_HEADS * WIDTH for place in range(self.tails)]
        self.q = torch.randn(self.rows, HEADS, WIDTH, dtype=torch.bfloat16, device="cuda")
        self.new = torch.randn(2, self.rows, KV_HEADS, WIDTH, dtype=torch.bfloat16, device="cuda")
        slots = max(made["STREAM"][3::4])
        heads = slots * self.rows * HEADS
        self.partials = [
            (torch.randn(heads, WIDTH, device="cuda"), torch.randn(heads, device="cuda"), torch.rand(heads, device="cuda") + 0.5)
            for _ in range(min(ROTATIONS_MOST, math.ceil(ROTATED_BYTES / (heads * WIDTH * 4))))
        ]
        self.out = torch.empty_like(self.q)
        self.paths = torch.zeros(self.rows, DEPTH, dtype=torch.int32, device="cuda")
        self.depths = torch.zeros(self.rows, dtype=torch.int32, device="cuda")
        tree._paths[(self.rows,)](words["PARENTS"], self.paths, self.depths, MAXD=DEPTH, **tree.LAUNCH_OPTIONS["_paths"])

    @staticmethod
    def offsets_of(first: int, size: int, streams: int) -> torch.Tensor:
        """OFF of caches that lie behind each other from ``first``."""
        return torch.tensor([[first + 2 * stream * size, first + (2 * stream + 1) * size] for stream in range(streams)], device="cuda")

    def shape(self) -> dict[str, int | float]:
        """The constexprs that `_shared` and `_tail` have in common."""
        return {"H": HEADS, "HK": KV_HEADS, "D": WIDTH, "G": HEADS // KV_HEADS, "CH": rounds.CHUNK, "SCALE": WIDTH**-0.5, "GR": rounds.GROUP}

    def shared(self, turn: int) -> None:
        """Launch `_shared` over one of the caches."""
        shared_keys._shared[(self.items.numel() // 3 * KV_HEADS,)](
            self.q, self.pool, self.pool, self.offsets[turn % self.caches], self.stream, self.items, *self.partials[turn % len(self.partials)],
            self.rows, **self.shape(), **self.options["_shared"],
        )

    def tail(self, turn: int) -> None:
        """Launch `_tail` over one of the shifted caches."""
        own_keys._tail[(self.rows, KV_HEADS, 2)](
            self.q, *self.new, self.pool, self.pool, self.tail_offsets[turn % self.tails], self.stream, self.row_streams, self.paths, self.depths,
            *self.partials[turn % len(self.partials)], self.rows, MAXD=DEPTH, **self.shape(), **self.options["_tail"],
        )

    def merge(self, turn: int) -> None:
        """Launch `_merge` over one set of partials."""
        own_keys._merge[(self.rows, KV_HEADS, WIDTH // 64)](
            *self.partials[turn % len(self.partials)], self.out, self.stream, self.row_streams, self.rows,
            H=HEADS, D=WIDTH, G=HEADS // KV_HEADS, DS=64, CH=rounds.CHUNK, GR=rounds.GROUP, **self.options["_merge"],
        )


def microseconds(launch, turns: int = ROTATIONS_MOST, replays: int = 15) -> float:
    """The median time of one launch within a graph of ``turns`` of them."""
    launch(0)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for turn in range(turns):
            launch(turn)
    graph.replay()
    times = []
    for _ in range(replays):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e3 / turns)
    return statistics.median(times)


def measure(options: dict[str, dict[str, int]]) -> list[dict[str, object]]:
    """Every case: its name, floor, and both sides' times of the three launches."""
    results = []
    for case in CASES:
        made = Round(case, options)
        # The merge comes last and reads what the others wrote.
        ours = [microseconds(launch) for launch in (made.shared, made.tail, made.merge)]
        results.append({"case": case.name, "floor": case.floor, "ours": ours, "engine": list(case.engine)})
        del made
        torch.cuda.empty_cache()
    return results


def table(results: list[dict[str, object]]) -> str:
    """The results as a Markdown table."""
    lines = ["| committed keys x streams, rows each | shared | tail | merge | sum | engine's shared | tail | merge | sum | ratio | floor |"]
    lines.append("| --- |" + " ---: |" * 10)
    for result in results:
        ours, engine = result["ours"], result["engine"]
        cells = [*ours, sum(ours), *engine, sum(engine)]
        figures = " | ".join(f"{cell:.0f}" if index > 3 else f"{cell:.1f}" for index, cell in enumerate(cells))
        lines.append(f"| {result['case']} | {figures} | {sum(ours) / sum(engine):.2f} | {result['floor']:.0f} |")
    return "\n".join(lines)


def plot(results: list[dict[str, object]]) -> str:
    """An SVG of both sides' sums over the floor, a pair of bars a case."""
    left, width, step, unit = 190, 760, 46, 68
    height = step * len(results) + 70
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        '<text x="10" y="18" font-size="14">Time of shared + tail + merge over the floor (1 = the keys read once)</text>',
    ]
    bottom = step * len(results) + 34
    for times in range(0, 9):
        x = left + times * unit
        lines.append(f'<line x1="{x}" y1="30" x2="{x}" y2="{bottom}" stroke="{"black" if times == 1 else "#dddddd"}"/>')
        lines.append(f'<text x="{x}" y="{bottom + 14}" text-anchor="middle">{times}</text>')
    for place, result in enumerate(results):
        top = 38 + place * step
        lines.append(f'<text x="{left - 8}" y="{top + 20}" text-anchor="end">{result["case"]}</text>')
        for row, (side, colour) in enumerate((("ours", "#1f6fb4"), ("engine", "#c8c8c8"))):
            ratio = sum(result[side]) / result["floor"]
            y = top + 16 * row
            lines.append(f'<rect x="{left}" y="{y}" width="{ratio * unit:.0f}" height="14" fill="{colour}"/>')
            lines.append(f'<text x="{left + ratio * unit + 4:.0f}" y="{y + 12}">{ratio:.1f}</text>')
    lines.append(f'<text x="{left}" y="{bottom + 30}">blue: these kernels; grey: the engine\'s own</text></svg>')
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="also write the results to this file")
    parser.add_argument("--set", nargs="*", default=[], help="launch options to try, such as _tail:num_warps=8")
    parser.add_argument("--plot", type=Path, help="also draw the results to this SVG file")
    parser.add_argument("--from", type=Path, dest="measured", help="take the results from a file that --json wrote")
    arguments = parser.parse_args()
    options = {name: dict(value) for module in (shared_keys, own_keys) for name, value in module.LAUNCH_OPTIONS.items()}
    for change in arguments.set:
        name, setting = change.split(":")
        option, value = setting.split("=")
        options[name][option] = int(value)
    if arguments.measured:
        results = json.loads(arguments.measured.read_text())
    else:
        results = measure(options)
        print(f"{torch.cuda.get_device_name()}, Triton {triton.__version__}, PyTorch {torch.__version__}; microseconds")
    print(table(results))
    if arguments.plot:
        arguments.plot.write_text(plot(results))
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
