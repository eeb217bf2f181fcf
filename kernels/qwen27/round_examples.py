"""The examples of the kernels that see a whole round: its trees and its attention. See ``examples``."""

from __future__ import annotations

import random
from dataclasses import dataclass

import torch
from torch import Tensor

from . import own_keys, references, rounds, shared_keys, tree
from .example_tools import ROUNDED, WIDE, Compared, Example, Maker, Need, compare

LENGTHS = (5, 4, 0, 1, 4.01, 3.99, 8.5, 16.3)
"""Committed keys a stream where a need names none, in chunks."""


def deal(need: Need) -> list[rounds.Window]:
    """The windows of the need's streams: committed keys in turn, random trees or chains."""
    source = random.Random(need.seed)
    lengths = need.committed or tuple(int(chunks * need.geometry.chunk) for chunks in LENGTHS)
    windows = []
    for stream, rows in enumerate(need.share):
        parents = [-1] + [source.randrange(row) if need.branches else row - 1 for row in range(1, rows)]
        windows.append(rounds.Window(lengths[stream % len(lengths)], tuple(parents)))
    return windows


@dataclass(frozen=True)
class Attention:
    """The tensors of one round's attention, named as the launches name them."""

    windows: list[rounds.Window]
    tables: dict[str, Tensor]
    q: Tensor
    """[W, H, D]"""
    k_new: Tensor
    """[W, HK, D]"""
    v_new: Tensor
    """[W, HK, D]"""
    origin: Tensor
    """What KC and VC point at, in the middle of the caches, so that some offsets are negative."""
    offsets: Tensor
    """[streams, 2]"""
    caches: list[tuple[Tensor, Tensor]]
    """Each stream's committed keys and values, [keys, HK, D]."""
    partials: tuple[Tensor, Tensor, Tensor]
    """PO [slots, W, H, D]; PM, PL [slots, W, H]."""

    @property
    def named_partials(self) -> dict[str, Tensor]:
        """The partials as the launches name them."""
        return dict(zip(("PO", "PM", "PL"), self.partials))


def attention(need: Need, device: str) -> Attention:
    """Make a round. Scores are of the size that a trained model's are: queries are three times as long as keys."""
    make, g = Maker(need, device), need.geometry
    windows = deal(need)
    made = rounds.tables(windows, [0] * need.rows, g.heads // g.kv_heads, g.chunk, need.padding)
    sizes = [window.committed * g.kv_heads * g.width for window in windows for _ in range(2)]
    # Room for what a plan's padding would read if a kernel took it for keys: a wrong result, not a fault.
    pool = make.normal("KC", sum(sizes) + 2 * need.padding * g.chunk * g.kv_heads * g.width + 8)
    starts = [sum(sizes[:place]) for place in range(len(sizes))]
    middle = starts[len(starts) // 2]
    caches = [pool[start : start + size].view(-1, g.kv_heads, g.width) for start, size in zip(starts, sizes)]
    count = max(made["STREAM"][3::4])
    return Attention(
        windows,
        {name: make.table(name, words) for name, words in made.items()},
        make.normal("Q", need.rows, g.heads, g.width, scale=3.0),
        make.normal("KN", need.rows, g.kv_heads, g.width),
        make.normal("VN", need.rows, g.kv_heads, g.width),
        pool[middle:],
        make.place("OFF", torch.tensor([start - middle for start in starts]).view(-1, 2)),
        list(zip(caches[0::2], caches[1::2])),
        (
            make.poisoned("PO", count, need.rows, g.heads, g.width, dtype=torch.float32),
            make.poisoned("PM", count, need.rows, g.heads, dtype=torch.float32),
            make.poisoned("PL", count, need.rows, g.heads, dtype=torch.float32),
        ),
    )


Partial = tuple[Tensor, Tensor, Tensor]
"""(o, m, l) of some rows."""


def compare_partials(got: list[Partial], want: list[Partial]) -> list[Compared]:
    """Lists of partials as wholes. o and l carry the weights' rounding to bf16, m none."""
    flat = [tuple(torch.cat([part.flatten() for part in parts]) for parts in zip(*side)) for side in (got, want)]
    limits = (ROUNDED, WIDE, ROUNDED)
    return [compare(name, mine, theirs, limit) for name, mine, theirs, limit in zip(("PO", "PM", "PL"), *flat, limits)]


def attention_sizes(need: Need) -> dict[str, int | float]:
    """The constexprs that `_shared` and `_tail` have in common."""
    g = need.geometry
    return {"H": g.heads, "HK": g.kv_heads, "D": g.width, "G": g.heads // g.kv_heads, "CH": g.chunk, "SCALE": g.width**-0.5, "GR": rounds.GROUP}


def paths(need: Need, device: str) -> Example:
    """Rows in trees; entries past a row's depth must stay as they were."""
    make, depth_most = Maker(need, device), need.geometry.depth
    windows = deal(need)
    made = rounds.tables(windows, [0] * need.rows, 1)
    parents = make.table("PARENTS", made["PARENTS"])
    found = make.poisoned("PATHS", need.rows, depth_most, dtype=torch.int32)
    depths = make.poisoned("DEPTHS", need.rows, dtype=torch.int32)
    want = torch.full((need.rows, depth_most), -7)
    starts = rounds.first_rows(windows)
    rows = [[start + node for node in path] for window, start in zip(windows, starts) for path in rounds.paths(window)]
    for row, path in enumerate(rows):
        want[row, : len(path)] = torch.tensor(path)
    lengths = torch.tensor([len(path) for path in rows])
    return Example(
        tree._paths, tree.LAUNCH_OPTIONS["_paths"], (need.rows,), {"PARENTS": parents, "PATHS": found, "DEPTHS": depths}, {"MAXD": depth_most},
        lambda: [compare("PATHS", found.cpu(), want, 1e-12), compare("DEPTHS", depths.cpu(), lengths, 1e-12)],
    )


def shared(need: Need, device: str) -> Example:
    """Every slot that the plan's items fill; all other slots must stay unwritten, a padded plan's too."""
    g, made = need.geometry, attention(need, device)
    items = made.tables["ITEMS"].numel() // 3
    return Example(
        shared_keys._shared, shared_keys.LAUNCH_OPTIONS["_shared"], (items * g.kv_heads,),
        {
            "Q": made.q, "KC": made.origin, "VC": made.origin, "OFF": made.offsets, "STREAM": made.tables["STREAM"], "ITEMS": made.tables["ITEMS"],
            **made.named_partials, "W": need.rows,
        },
        attention_sizes(need),
        lambda: check_shared(need, made),
    )  # fmt: skip


def check_shared(need: Need, made: Attention) -> list[Compared]:
    """Each stream's whole chunks and folded groups."""
    g = need.geometry
    got, want, written = [], [], torch.zeros_like(made.partials[1], dtype=torch.bool)
    for window, start, (k, v) in zip(made.windows, rounds.first_rows(made.windows), made.caches):
        rows = slice(start, start + window.rows)
        folded = rounds.groups(window.committed, window.rows, g.chunk)
        bounds = [place * rounds.GROUP * g.chunk for place in range(folded)]
        bounds += range(folded * rounds.GROUP * g.chunk, window.committed + 1, g.chunk)
        for slot, (begin, end) in enumerate(zip(bounds, bounds[1:])):
            got.append(tuple(part[slot, rows] for part in made.partials))
            want.append(references.partial(made.q[rows], k[begin:end], v[begin:end], g.width**-0.5))
            written[slot, rows] = True
    clean = all(bool(part[~written].isnan().all()) for part in made.partials)
    return [Compared("unwritten", 0.0 if clean else float("inf"), 1e-12), *(compare_partials(got, want) if got else [])]


def tail(need: Need, device: str) -> Example:
    """Both tail chunks of every row; a slot that a row's path does not reach holds an empty partial."""
    g, made = need.geometry, attention(need, device)
    paths_of = [[start + node for node in path] for window, start in zip(made.windows, rounds.first_rows(made.windows)) for path in rounds.paths(window)]
    table = torch.zeros(need.rows, g.depth, dtype=torch.int32)
    for row, path in enumerate(paths_of):
        table[row, : len(path)] = torch.tensor(path)
    make = Maker(need, device)
    return Example(
        own_keys._tail, own_keys.LAUNCH_OPTIONS["_tail"], (need.rows, g.kv_heads, 1 + -(-g.depth // g.chunk)),
        {
            "Q": made.q, "KN": made.k_new, "VN": made.v_new, "KC": made.origin, "VC": made.origin, "OFF": made.offsets,
            "STREAM": made.tables["STREAM"], "ROWS": made.tables["ROWS"],
            "PATHS": make.place("PATHS", table), "DEPTHS": make.table("DEPTHS", [len(path) for path in paths_of]),
            **made.named_partials, "W": need.rows,
        },
        attention_sizes(need) | {"MAXD": g.depth},
        lambda: check_tail(need, made, paths_of),
    )  # fmt: skip


def check_tail(need: Need, made: Attention, paths_of: list[list[int]]) -> list[Compared]:
    """Each row's two tail chunks."""
    g = need.geometry
    got, want, empty = [], [], True
    for row, path in enumerate(paths_of):
        window, (k, v) = (each[int(made.tables["ROWS"][row])] for each in (made.windows, made.caches))
        k, v = torch.cat((k, made.k_new[path])), torch.cat((v, made.v_new[path]))
        first = window.committed // g.chunk
        slots = rounds.slots(window.committed, window.rows, g.chunk)
        last = slots + (rounds.GROUP - 1) * rounds.groups(window.committed, window.rows, g.chunk)
        for chunk in range(first, last):
            part = tuple(part[slots - (last - chunk), row : row + 1] for part in made.partials)
            keys = slice(chunk * g.chunk, (chunk + 1) * g.chunk)
            if k[keys].shape[0] == 0:
                empty &= bool((part[2] == 0).all() & (part[0] == 0).all())
                continue
            got.append(part)
            want.append(references.partial(made.q[row : row + 1], k[keys], v[keys], g.width**-0.5))
    return [Compared("empty", 0.0 if empty else float("inf"), 1e-12), *compare_partials(got, want)]


def merge(need: Need, device: str) -> Example:
    """Random partials of a round, every third one empty."""
    make, g = Maker(need, device), need.geometry
    made = attention(need, device)
    o, m, l = made.partials
    for part, scale in ((o, 1.0), (m, 2.0)):
        part.copy_(torch.randn(part.shape, generator=make.random, device=device) * scale)
    l.copy_(torch.rand(l.shape, generator=make.random, device=device) + 0.5)
    o[2::3], m[2::3], l[2::3] = 0.0, -torch.inf, 0.0
    out = make.poisoned("OUT", need.rows, g.heads, g.width)
    want = []
    for window, start in zip(made.windows, rounds.first_rows(made.windows)):
        slots, rows = rounds.slots(window.committed, window.rows, g.chunk), slice(start, start + window.rows)
        want.append(references.merge(o[:slots, rows], m[:slots, rows], l[:slots, rows]))
    return Example(
        own_keys._merge, own_keys.LAUNCH_OPTIONS["_merge"], (need.rows, g.kv_heads, g.width // g.slice),
        {**made.named_partials, "OUT": out, "STREAM": made.tables["STREAM"], "ROWS": made.tables["ROWS"], "W": need.rows},
        {"H": g.heads, "D": g.width, "G": g.heads // g.kv_heads, "DS": g.slice, "CH": g.chunk, "GR": rounds.GROUP},
        lambda: [compare("OUT", out, torch.cat(want), ROUNDED)],
    )  # fmt: skip
