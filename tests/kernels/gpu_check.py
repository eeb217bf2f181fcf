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

from qwen27 import rounds
from qwen27.examples import EXAMPLES, Compared, Need
from qwen27.serving import Streams

ROWS = (1, 2, 15, 16, 17, 128, 256)
TABLES = frozenset({"IDS", "SID", "WIN", "ROWS", "STREAM", "ITEMS", "PARENTS"})
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
            compared: list[Compared] = [each for need in needs(rows) for each in example(need, "cuda").run()]
            worst = max(compared, key=lambda each: each.error / each.limit)
            good &= worst.error <= worst.limit
            cells.append(f"{worst.what} {worst.error:.1e}" + ("" if worst.error <= worst.limit else " FAILS"))
        print(f"| `{function}` | " + " | ".join(cells) + " |", flush=True)
    return good


def random_window(source: random.Random) -> rounds.Window:
    """1 to 16 rows in a chain or a tree, with committed keys of any length, often on or beside a boundary."""
    rows = source.choice((1, 1, 2, 3, 5, 8, 11, 15, 16, 16))
    boundary = source.choice((0, 512, 2048, 4096, 8192, 10240, 12288)) + source.choice((-17, -1, 0, 1, 13))
    committed = max(0, source.choice((boundary, source.randrange(KEYS_MOST - 200))))
    trees = source.random() < 0.5
    return rounds.Window(committed, (-1, *(source.randrange(row) if trees else row - 1 for row in range(1, rows))))


def check_bits(count: int) -> bool:
    """Random rounds against each of their windows alone, and against another round in another order. True if none differ."""
    source, streams = random.Random(7), Streams("cuda", STREAMS, 16, KEYS_MOST)
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
