"""Checks every kernel on the GPU at hand, at the real geometry, and that a row's bits do not depend on its round.

    python tests/kernels/gpu_check.py [--rounds 200]

Prints a table and the number of differences; exits 1 if a comparison fails or a bit differs.
"""

from __future__ import annotations

import argparse
import random
import sys
from pathlib import Path

import torch
import triton

sys.path.append(str(Path(__file__).resolve().parents[2] / "kernels"))

from qwen27 import deltanet, own_keys, rounds, shared_keys, tree
from qwen27.examples import EXAMPLES, Compared, Need

ROWS = (1, 2, 15, 16, 17, 128, 256)
TABLES = frozenset({"IDS", "SID", "WIN", "ROWS", "STREAM", "ITEMS", "PARENTS"})
HEADS, KV_HEADS, WIDTH, DEPTH = 24, 4, 256, 128
CHANNELS, KEY_HEADS, VALUE_HEADS, DELTA_WIDTH = 10240, 16, 48, 128
KEYS_MOST = 12800
STREAMS = 16


def needs(rows: int) -> list[Need]:
    """The needs that a kernel is checked for at this many rows: in as few and in more streams, tables aligned and not."""
    fewest = -(-rows // 16)
    made = [Need(rows, fewest), Need(rows, min(rows, 16, fewest + 1), TABLES, residual=False, stride=5121, padding=2, seed=1)]
    if rows == 16:
        made.append(Need(rows, 1, committed=(9000,), seed=2))
    return made


def check_numbers() -> bool:
    """Every example at every row count; prints the worst error over its limit."""
    good = True
    print("| kernel | " + " | ".join(f"{rows} rows" for rows in ROWS) + " |")
    print("| --- |" + " ---: |" * len(ROWS))
    for function, example in EXAMPLES.items():
        cells = []
        for rows in ROWS:
            compared: list[Compared] = [each for need in needs(rows) for each in example(need, "cuda")]
            worst = max(compared, key=lambda each: each.error / each.limit)
            good &= worst.error <= worst.limit
            cells.append(f"{worst.what} {worst.error:.1e}" + ("" if worst.error <= worst.limit else " FAILS"))
        print(f"| `{function}` | " + " | ".join(cells) + " |", flush=True)
    return good


class Streams:
    """Sixteen streams with everything that a round reads of each."""

    def __init__(self) -> None:
        def normal(*shape: int) -> torch.Tensor:
            return torch.randn(shape, dtype=torch.bfloat16, device="cuda")

        self.cache = normal(STREAMS, 2, KEYS_MOST, KV_HEADS, WIDTH)
        self.q = normal(STREAMS, 16, HEADS, WIDTH) * 3
        self.new = normal(STREAMS, 16, 2, KV_HEADS, WIDTH)
        self.qkv, self.gates = normal(STREAMS, 16, CHANNELS), normal(2, STREAMS, 16, VALUE_HEADS)
        self.state, self.weight = normal(STREAMS, rounds.KEPT, CHANNELS), normal(CHANNELS, rounds.KEPT + 1)
        self.a_log, self.dt_bias = torch.randn(2, VALUE_HEADS, device="cuda")
        slots = KEYS_MOST // rounds.CHUNK + 3
        self.po = torch.empty(slots * 256 * HEADS * WIDTH, device="cuda")
        self.pm, self.pl = torch.empty(2, slots * 256 * HEADS, device="cuda")

    def run(self, present: list[tuple[int, rounds.Window]]) -> list[torch.Tensor]:
        """One round of these (stream, window)s in this order; each window's output bytes, [rows, bytes]."""
        windows = [window for _, window in present]
        rows = sum(window.rows for window in windows)
        made = rounds.tables(windows, [0] * rows, HEADS // KV_HEADS)
        at = {}
        for upload in rounds.uploads(made):
            words = torch.tensor(upload.words or [0], dtype=torch.int32, device="cuda")
            at |= {name: words[place:] for name, place in upload.places.items()}
        pick = [(stream, row) for stream, window in present for row in range(window.rows)]
        streams, places = (torch.tensor(each, device="cuda") for each in zip(*pick))
        attention = self.attend(present, rows, at, made, streams, places)
        delta = self.delta(present, rows, at, streams, places)
        bits = torch.cat([out.reshape(rows, -1).view(torch.uint8) for out in (attention, *delta)], 1)
        return list(bits.split([window.rows for window in windows]))

    def attend(self, present, rows, at, made, streams, places) -> torch.Tensor:
        """The attention launches of a round."""
        for part in (self.po, self.pm, self.pl):
            part.fill_(float("nan"))
        q, k_new, v_new = (each.contiguous() for each in (self.q[streams, places], *self.new[streams, places].unbind(1)))
        each = KEYS_MOST * KV_HEADS * WIDTH
        # One origin in the middle of the caches: some offsets are negative.
        origin = self.cache.view(-1)[STREAMS * each :]
        offsets = torch.tensor([[(2 * stream + half - STREAMS) * each for half in range(2)] for stream, _ in present], device="cuda")
        paths = torch.full((rows, DEPTH), -1, dtype=torch.int32, device="cuda")
        depths, out = torch.empty(rows, dtype=torch.int32, device="cuda"), torch.empty_like(q)
        parts = (self.po, self.pm, self.pl)
        shape = {"H": HEADS, "HK": KV_HEADS, "D": WIDTH, "G": HEADS // KV_HEADS, "CH": rounds.CHUNK, "SCALE": WIDTH**-0.5, "GR": rounds.GROUP}
        tree._paths[(rows,)](at["PARENTS"], paths, depths, MAXD=DEPTH, **tree.LAUNCH_OPTIONS["_paths"])
        if made["ITEMS"]:
            shared_keys._shared[(len(made["ITEMS"]) // 3 * KV_HEADS,)](
                q, origin, origin, offsets, at["STREAM"], at["ITEMS"], *parts, rows, **shape, **shared_keys.LAUNCH_OPTIONS["_shared"]
            )
        own_keys._tail[(rows, KV_HEADS, 2)](
            q, k_new, v_new, origin, origin, offsets, at["STREAM"], at["ROWS"], paths, depths, *parts, rows,
            MAXD=DEPTH, **shape, **own_keys.LAUNCH_OPTIONS["_tail"],
        )
        own_keys._merge[(rows, KV_HEADS, WIDTH // 64)](
            *parts, out, at["STREAM"], at["ROWS"], rows,
            H=HEADS, D=WIDTH, G=HEADS // KV_HEADS, DS=64, CH=rounds.CHUNK, GR=rounds.GROUP, **own_keys.LAUNCH_OPTIONS["_merge"],
        )
        return out

    def delta(self, present, rows, at, streams, places) -> list[torch.Tensor]:
        """The DeltaNet launch of a round."""
        qkv, a, b = self.qkv[streams, places], *self.gates[:, streams, places].unbind(0)
        state = self.state[torch.tensor([stream for stream, _ in present], device="cuda")]
        heads = (KEY_HEADS, KEY_HEADS, VALUE_HEADS)
        out = [torch.empty(rows, count, DELTA_WIDTH, dtype=torch.bfloat16, device="cuda") for count in heads]
        gates = [torch.empty(rows, VALUE_HEADS, device="cuda") for _ in range(2)]
        deltanet._gdn_pre[(rows, 2 * KEY_HEADS + VALUE_HEADS)](
            qkv, state, self.weight, at["WIN"], a.contiguous(), b.contiguous(), self.a_log, self.dt_bias, *out, *gates, at["SID"],
            C=CHANNELS, KH=KEY_HEADS, VH=VALUE_HEADS, DK=DELTA_WIDTH, NKEEP=rounds.KEPT, MULTI=int(len(present) > 1),
            **deltanet.LAUNCH_OPTIONS["_gdn_pre"],
        )
        return out + gates


def random_window(source: random.Random) -> rounds.Window:
    """1 to 16 rows in a chain or a tree, with committed keys of any length, often on or beside a boundary."""
    rows = source.choice((1, 1, 2, 3, 5, 8, 11, 15, 16, 16))
    boundary = source.choice((0, 512, 2048, 4096, 8192, 10240, 12288)) + source.choice((-17, -1, 0, 1, 13))
    committed = max(0, source.choice((boundary, source.randrange(KEYS_MOST - 200))))
    trees = source.random() < 0.5
    return rounds.Window(committed, (-1, *(source.randrange(row) if trees else row - 1 for row in range(1, rows))))


def check_bits(count: int) -> bool:
    """Random rounds against each of their windows alone, and against another round in another order. True if none differ."""
    source, streams = random.Random(7), Streams()
    rounds_compared = rows_compared = differing = beyond = 0
    for _ in range(count):
        present = [(stream, random_window(source)) for stream in source.sample(range(STREAMS), source.randint(2, STREAMS))]
        together = streams.run(present)
        chosen = source.randrange(len(present))
        others = [(stream, random_window(source)) for stream, _ in source.sample(present, source.randint(1, len(present))) if stream != present[chosen][0]]
        place = source.randint(0, len(others))
        elsewhere = streams.run([*others[:place], present[chosen], *others[place:]])[place]
        alone = streams.run([present[chosen]])[0]
        for bits in (elsewhere, alone):
            rows_compared += bits.shape[0]
            differing += int((bits != together[chosen]).any(1).sum())
        # More than the contract asks for: a window's first row alone, as a window of its own.
        stream, window = present[chosen]
        first = streams.run([(stream, rounds.Window(window.committed, (-1,)))])[0]
        beyond += int((first != alone[:1]).any())
        rounds_compared += 1
    print(f"bit equality: {rounds_compared} random rounds, {rows_compared} rows compared, {differing} rows differ")
    print(f"beyond the contract: a window's first row as a window of its own, {rounds_compared} compared, {beyond} differ")
    return rounds_compared == count and differing == 0


def main() -> int:
    """Run both checks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200, help="random rounds to compare")
    count = parser.parse_args().rounds
    print(f"{torch.cuda.get_device_name()}, Triton {triton.__version__}, PyTorch {torch.__version__}")
    numbers = check_numbers()
    bits = check_bits(count)
    print("good" if numbers and bits else "NOT good")
    return 0 if numbers and bits else 1


if __name__ == "__main__":
    sys.exit(main())
