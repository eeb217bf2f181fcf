"""Whole rounds on a GPU, with the tables where an engine's uploads put them."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from . import deltanet, embedding, gates, heads, norms, own_keys, rounds, shared_keys, tree
from .example_tools import REAL

BUCKETS = (1, 2, 15, 16, 17, 4096)
"""Rows of the prompt chunks that are served, as far as the limit goes."""

Present = list[tuple[int, rounds.Window]]
"""The (stream, window)s of a round, in their order."""


def normal(device: str, *shape: int) -> Tensor:
    """Normally distributed bf16 values."""
    return torch.randn(shape, dtype=torch.bfloat16, device=device)


class Streams:
    """The streams of a server with everything that a round's attention and DeltaNet read of each, and the work buffers.

    ``keys_most``: committed keys that a stream has room for.
    """

    def __init__(self, device: str, count: int, window_rows: int, keys_most: int) -> None:
        self.device, self.keys_most = device, keys_most
        self.cache = normal(device, count, 2, keys_most, REAL.kv_heads, REAL.width)
        self.q = normal(device, count, window_rows, REAL.heads, REAL.width) * 3
        self.new = normal(device, count, window_rows, 2, REAL.kv_heads, REAL.width)
        channels = (2 * REAL.key_heads + REAL.value_heads) * REAL.delta_width
        self.qkv, self.gates = normal(device, count, window_rows, channels), normal(device, 2, count, window_rows, REAL.value_heads)
        self.state, self.weight = normal(device, count, rounds.KEPT, channels), normal(device, channels, rounds.KEPT + 1)
        self.a_log, self.dt_bias = torch.randn(2, REAL.value_heads, device=device)
        pairs = (keys_most // rounds.CHUNK + 3) * count * window_rows * REAL.heads
        self.po = torch.empty(pairs * REAL.width, device=device)
        self.pm, self.pl = torch.empty(2, pairs, device=device)

    def run(self, present: Present) -> list[Tensor]:
        """The attention and DeltaNet launches of one round; each window's output bytes, [rows, bytes]."""
        windows = [window for _, window in present]
        made, at = upload(windows, self.device)
        attention, delta = self.attend(present, made, at), self.delta(present, at)
        bits = torch.cat([out.reshape(out.shape[0], -1).view(torch.uint8) for out in (attention, *delta)], 1)
        return list(bits.split([window.rows for window in windows]))

    def picked(self, present: Present) -> tuple[Tensor, Tensor]:
        """Each row's stream, and its place in the stream's window."""
        pick = [(stream, row) for stream, window in present for row in range(window.rows)]
        streams, places = torch.tensor(pick, device=self.device).T
        return streams, places

    def attend(self, present: Present, made: dict[str, list[int]], at: dict[str, Tensor]) -> Tensor:
        """The attention launches of a round, the partials poisoned first."""
        for part in (self.po, self.pm, self.pl):
            part.fill_(float("nan"))
        streams, places = self.picked(present)
        rows, g = len(streams), REAL
        q, k_new, v_new = (each.contiguous() for each in (self.q[streams, places], *self.new[streams, places].unbind(1)))
        # One origin in the middle of the caches: some offsets are negative.
        count, each = self.cache.shape[0], self.keys_most * g.kv_heads * g.width
        origin = self.cache.view(-1)[count * each :]
        offsets = torch.tensor([[(2 * stream + half - count) * each for half in range(2)] for stream, _ in present], device=self.device)
        paths = torch.full((rows, g.depth), -1, dtype=torch.int32, device=self.device)
        depths, out = torch.empty(rows, dtype=torch.int32, device=self.device), torch.empty_like(q)
        parts = (self.po, self.pm, self.pl)
        shape = {"H": g.heads, "HK": g.kv_heads, "D": g.width, "G": g.heads // g.kv_heads, "CH": rounds.CHUNK, "SCALE": g.width**-0.5, "GR": rounds.GROUP}
        tree._paths[(rows,)](at["PARENTS"], paths, depths, MAXD=g.depth, **tree.LAUNCH_OPTIONS["_paths"])
        if made["ITEMS"]:
            shared_keys._shared[(len(made["ITEMS"]) // 3 * g.kv_heads,)](
                q, origin, origin, offsets, at["STREAM"], at["ITEMS"], *parts, rows, **shape, **shared_keys.LAUNCH_OPTIONS["_shared"]
            )
        own_keys._tail[(rows, g.kv_heads, 1 + -(-g.depth // g.chunk))](
            q, k_new, v_new, origin, origin, offsets, at["STREAM"], at["ROWS"], paths, depths, *parts, rows,
            MAXD=g.depth, **shape, **own_keys.LAUNCH_OPTIONS["_tail"],
        )
        own_keys._merge[(rows, g.kv_heads, g.width // g.slice)](
            *parts, out, at["STREAM"], at["ROWS"], rows,
            H=g.heads, D=g.width, G=g.heads // g.kv_heads, DS=g.slice, CH=rounds.CHUNK, GR=rounds.GROUP, **own_keys.LAUNCH_OPTIONS["_merge"],
        )
        return out

    def delta(self, present: Present, at: dict[str, Tensor]) -> list[Tensor]:
        """The DeltaNet launch of a round."""
        streams, places = self.picked(present)
        qkv, a, b = self.qkv[streams, places], *self.gates[:, streams, places].unbind(0)
        state = self.state[torch.tensor([stream for stream, _ in present], device=self.device)]
        return self.convolve(qkv, state, a.contiguous(), b.contiguous(), at["WIN"], at["SID"], len(present) > 1)

    def convolve(self, qkv: Tensor, state: Tensor, a: Tensor, b: Tensor, windows: Tensor, stream_ids: Tensor, multi: bool) -> list[Tensor]:
        """Q, K, V, G and BETA of the rows of ``qkv``."""
        rows, g = qkv.shape[0], REAL
        out = [torch.empty(rows, count, g.delta_width, dtype=torch.bfloat16, device=self.device) for count in (g.key_heads, g.key_heads, g.value_heads)]
        out += [torch.empty(rows, g.value_heads, device=self.device) for _ in range(2)]
        deltanet._gdn_pre[(rows, 2 * g.key_heads + g.value_heads)](
            qkv, state, self.weight, windows, a, b, self.a_log, self.dt_bias, *out, stream_ids,
            C=qkv.shape[1], KH=g.key_heads, VH=g.value_heads, DK=g.delta_width, NKEEP=rounds.KEPT, MULTI=int(multi),
            **deltanet.LAUNCH_OPTIONS["_gdn_pre"],
        )
        return out


def upload(windows: list[rounds.Window], device: str) -> tuple[dict[str, list[int]], dict[str, Tensor]]:
    """A round's tables, and each on the device where its upload puts it."""
    made = rounds.tables(windows, [0] * sum(window.rows for window in windows), REAL.heads // REAL.kv_heads)
    at = {}
    for each in rounds.uploads(made):
        words = torch.tensor(each.words or [0], dtype=torch.int32, device=device)
        at |= {name: words[place:] for name, place in each.places.items()}
    return made, at


class RowKernels:
    """The launches of a round whose rows do not know of each other. What they compute is of no interest here."""

    def __init__(self, device: str, rows_most: int) -> None:
        g, self.device = REAL, device
        self.table = (torch.zeros(2, g.hidden // 8, dtype=torch.int32, device=device), *(normal(device, 2, g.hidden // 64) for _ in range(2)))
        self.wide = [normal(device, rows_most, g.intermediate) for _ in range(4)]
        self.sums = torch.empty(rows_most, g.intermediate // 64, device=device)
        self.frequencies = torch.rand(g.half, device=device)

    def run(self, rows: int, ids: Tensor, positions: Tensor) -> None:
        """Every launch once, the norm with and without a residual, the sums for each width."""
        g, (x, y, z, out), weight = REAL, self.wide, self.wide[0][0]
        embedding._embed[(rows, g.hidden // 64)](ids, *self.table, x, D=g.hidden, **embedding.LAUNCH_OPTIONS["_embed"])
        self.norm(rows, x, x, x, 0)
        self.norm(rows, x, y, z, 1)
        norms._gated_norm[(rows, g.value_heads)](y, z, weight, out, self.sums, g.eps, VH=g.value_heads, DV=g.delta_width, **norms.LAUNCH_OPTIONS["_gated_norm"])
        gates._swiglu[(rows, -(-g.intermediate // g.block))](y, z, out, self.sums, N=g.intermediate, BLOCK=g.block, **gates.LAUNCH_OPTIONS["_swiglu"])
        heads._attn_prep[(rows, g.heads + g.kv_heads)](
            x, y, weight, weight, positions, self.frequencies, z, out, g.eps,
            H=g.heads, HKV=g.kv_heads, D=g.width, HALF=g.half, MROPE=0, ROWS=0, HSEC=11, WSEC=10, **heads.LAUNCH_OPTIONS["_attn_prep"],
        )
        gates._gate_mul[(rows, g.heads)](y, x, out, self.sums, H=g.heads, D=g.width, **gates.LAUNCH_OPTIONS["_gate_mul"])
        for width in (g.hidden, g.heads * g.width, g.intermediate):
            gates._group_sums[(rows, -(-width // 1024))](x, self.sums, width, KG=width // 64, GS=64, GB=16, **gates.LAUNCH_OPTIONS["_group_sums"])

    def norm(self, rows: int, x: Tensor, residual: Tensor, hidden: Tensor, has_residual: int) -> None:
        """One norm over the hidden width."""
        d = REAL.hidden
        norms._add_rmsnorm[(rows,)](
            x, residual, self.wide[0][0], hidden, self.wide[3], self.sums, REAL.eps,
            D=d, BLOCK=1 << (d - 1).bit_length(), HAS_R=has_residual, **norms.LAUNCH_OPTIONS["_add_rmsnorm"],
        )

    def last_norm(self, rows: int) -> None:
        """The norm of a prompt chunk's last row."""
        x, residual, hidden = (each.view(-1)[(rows - 1) * REAL.hidden :] for each in self.wide[:3])
        self.norm(1, x, residual, hidden, 1)


def serve(limits: dict[str, int], device: str) -> Iterator[str]:
    """Serve decode rounds and prompt chunks within the limits, as many as reach every class of every argument."""
    streams = Streams(device, limits["parallel"], limits["window_rows"], keys_most=5 * rounds.CHUNK)
    others = RowKernels(device, max(limits["parallel"] * limits["window_rows"], limits["prompt_rows"]))
    for windows in decode_rounds(limits):
        streams.run(list(enumerate(windows)))
        _, at = upload(windows, device)
        others.run(sum(window.rows for window in windows), at["IDS"], at["POS"])
        yield f"a round of {len(windows)} streams, {sum(window.rows for window in windows)} rows"
    for rows in sorted({min(rows, limits["prompt_rows"]) for rows in BUCKETS if limits["prompt_rows"]}):
        prompt(streams, others, rows, by_id=False)
        if limits["parallel"] > 1:
            prompt(streams, others, rows, by_id=True)
        yield f"a prompt chunk of {rows} rows"


def prompt(streams: Streams, others: RowKernels, rows: int, by_id: bool) -> None:
    """A chunk of one stream's prompt: every table is an upload of its own. Its attention is the engine's own."""
    made = rounds.tables([rounds.chain(0, rows)], [0] * rows, 1)
    at = {name: torch.tensor(made[name], dtype=torch.int32, device=streams.device) for name in ("IDS", "POS", "WIN", "SID")}
    qkv = others.wide[1].view(-1)[: rows * streams.qkv.shape[2]].view(rows, -1)
    gate = others.wide[2][:, : REAL.value_heads].contiguous()
    streams.convolve(qkv, streams.state, gate, gate, at["WIN"], at["SID"] if by_id else at["WIN"], by_id)
    others.run(rows, at["IDS"], at["POS"])
    others.last_norm(rows)


def decode_rounds(limits: dict[str, int]) -> Iterator[list[rounds.Window]]:
    """Rounds in which every class of every table occurs that can: classes follow from streams, rows and items modulo 4.

    For every number of streams: eight numbers of rows in a row, then the multiples of 16 and the most; for each of them
    none to four chunks of committed keys in the first window, which may be the longest or the shortest that there can be.
    """
    for streams in range(1, limits["parallel"] + 1):
        most = streams * limits["window_rows"]
        for rows in sorted({*range(streams, min(streams + 8, most + 1)), *range(-(-streams // 16) * 16, most + 1, 16), most}):
            longest = min(limits["window_rows"], rows - streams + 1)
            shortest = max(1, rows - (streams - 1) * limits["window_rows"])
            for first in sorted({shortest, longest}):
                others = [(rows - first) // (streams - 1) + (place < (rows - first) % (streams - 1)) for place in range(streams - 1)]
                for chunks in range(5):
                    yield [rounds.chain(chunks * rounds.CHUNK, first), *(rounds.chain(place, count) for place, count in enumerate(others))]
