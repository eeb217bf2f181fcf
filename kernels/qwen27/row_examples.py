"""The examples of the kernels whose rows do not know of each other. See ``examples``."""

from __future__ import annotations

import torch

from . import deltanet, embedding, gates, heads, norms, references, rounds
from .example_tools import ROUNDED, WIDE, Compared, Example, Maker, Need, compare


def embed(need: Need, device: str) -> Example:
    """Row 0 takes the vocabulary's last token, whose row offset passes 2^31 at the real geometry."""
    make, d = Maker(need, device), need.geometry.hidden
    vocabulary = need.geometry.vocabulary
    ids = make.integers("IDS", vocabulary, need.rows)
    ids[0] = vocabulary - 1
    words = make.place("Wt", torch.randint(-(2**31), 2**31, (vocabulary, d // 8), generator=make.random, device=device).to(torch.int32))
    scales, biases = make.normal("S", vocabulary, d // 64), make.normal("B", vocabulary, d // 64)
    out = make.poisoned("OUT", need.rows, d)
    return Example(
        embedding._embed, embedding.LAUNCH_OPTIONS["_embed"], (need.rows, d // 64),
        {"IDS": ids, "Wt": words, "S": scales, "B": biases, "OUT": out}, {"D": d},
        lambda: [compare("OUT", out, references.embed(ids, words, scales, biases), ROUNDED)],
    )


def add_rmsnorm(need: Need, device: str) -> Example:
    """With a residual, H is an output; without, R and H are X, as a launch passes them, and X must stay as it was."""
    make, d = Maker(need, device), need.geometry.hidden
    x, weight = make.normal("X", need.rows, d), make.normal("W", d)
    residual = make.normal("R", need.rows, d) if need.residual else None
    hidden, y = make.poisoned("H", need.rows, d) if need.residual else x, make.poisoned("Y", need.rows, d)
    sums = make.poisoned("XS", need.rows, d // 64, dtype=torch.float32)
    want_hidden, want = references.add_rmsnorm(x, residual, weight, need.geometry.eps)
    return Example(
        norms._add_rmsnorm, norms.LAUNCH_OPTIONS["_add_rmsnorm"], (need.rows,),
        {"X": x, "R": x if residual is None else residual, "W": weight, "H": hidden, "Y": y, "XS": sums, "eps": need.geometry.eps},
        {"D": d, "BLOCK": 1 << (d - 1).bit_length(), "HAS_R": int(need.residual)},
        lambda: [compare("H", hidden, want_hidden, 1e-12), compare("Y", y, want, ROUNDED), compare("XS", sums, references.group_sums(y), WIDE)],
    )


def gdn_pre(need: Need, device: str) -> Example:
    """A round's windows; with one stream SID is WIN and MULTI 0. Some gates have inputs past 20."""
    make, g = Maker(need, device), need.geometry
    kh, vh, dk, rows = g.key_heads, g.value_heads, g.delta_width, need.rows
    width, multi = (2 * kh + vh) * dk, need.streams > 1
    made = rounds.tables([rounds.chain(0, count) for count in need.share], [0] * rows, 1)
    windows = make.table("WIN", made["WIN"]).view(rows, 4)
    streams = make.table("SID", made["SID"]) if multi else windows
    qkv, weight = make.normal("QKV", rows, width), make.normal("CW", width, 4)
    state = make.normal("CS", need.streams, rounds.KEPT, width)
    a, b = make.normal("A", rows, vh, scale=15.0), make.normal("B", rows, vh, scale=3.0)
    a_log, dt_bias = make.normal("ALOG", vh, dtype=torch.float32), make.normal("DTB", vh, dtype=torch.float32)
    q, k = (make.poisoned(name, rows, kh, dk) for name in "QK")
    v = make.poisoned("V", rows, vh, dk)
    decay, beta = (make.poisoned(name, rows, vh, dtype=torch.float32) for name in ("G", "BETA"))

    def check() -> list[Compared]:
        conv = references.convolution(qkv, state, weight, windows, torch.tensor(made["SID"], device=device))
        want = references.gdn_pre(conv, a, b, a_log, dt_bias, kh, dk)
        limits = (ROUNDED, ROUNDED, ROUNDED, WIDE, WIDE)
        return [compare(name, *pair, limit) for name, pair, limit in zip(("Q", "K", "V", "G", "BETA"), zip((q, k, v, decay, beta), want), limits)]

    return Example(
        deltanet._gdn_pre, deltanet.LAUNCH_OPTIONS["_gdn_pre"], (rows, 2 * kh + vh),
        {
            "QKV": qkv, "CS": state, "CW": weight, "WIN": windows, "A": a, "B": b, "ALOG": a_log, "DTB": dt_bias,
            "Q": q, "K": k, "V": v, "G": decay, "BETA": beta, "SID": streams,
        },
        {"C": width, "KH": kh, "VH": vh, "DK": dk, "NKEEP": rounds.KEPT, "MULTI": int(multi)},
        check,
    )  # fmt: skip


def gated_norm(need: Need, device: str) -> Example:
    """Every value head of every row."""
    make, vh, dv = Maker(need, device), need.geometry.value_heads, need.geometry.delta_width
    y, z, weight = make.normal("Yr", need.rows, vh, dv), make.normal("Z", need.rows, vh, dv), make.normal("W", dv)
    out, sums = make.poisoned("OUT", need.rows, vh, dv), make.poisoned("XS", need.rows, vh * dv // 64, dtype=torch.float32)
    want = references.gated_norm(y, z, weight, need.geometry.eps)
    return Example(
        norms._gated_norm, norms.LAUNCH_OPTIONS["_gated_norm"], (need.rows, vh),
        {"Yr": y, "Z": z, "W": weight, "OUT": out, "XS": sums, "eps": need.geometry.eps}, {"VH": vh, "DV": dv},
        lambda: [compare("OUT", out, want, ROUNDED), compare("XS", sums, references.group_sums(out.flatten(1)), WIDE)],
    )


def swiglu(need: Need, device: str) -> Example:
    """Blocks of the intermediate width."""
    make, n, block = Maker(need, device), need.geometry.intermediate, need.geometry.block
    gate, up = make.normal("GATE", need.rows, n, scale=3.0), make.normal("UP", need.rows, n)
    out, sums = make.poisoned("OUT", need.rows, n), make.poisoned("XS", need.rows, n // 64, dtype=torch.float32)
    return Example(
        gates._swiglu, gates.LAUNCH_OPTIONS["_swiglu"], (need.rows, -(-n // block)),
        {"GATE": gate, "UP": up, "OUT": out, "XS": sums}, {"N": n, "BLOCK": block},
        lambda: [compare("OUT", out, references.swiglu(gate, up), ROUNDED), compare("XS", sums, references.group_sums(out), WIDE)],
    )


def attn_prep(need: Need, device: str) -> Example:
    """Positions up to 262143."""
    make, g, rows = Maker(need, device), need.geometry, need.rows
    queries, keys = make.normal("QG", rows, g.heads, 2 * g.width), make.normal("KV", rows, g.kv_heads, g.width)
    query_weight, key_weight = make.normal("QN", g.width), make.normal("KN", g.width)
    positions = make.integers("POS", 262144, rows)
    powers = torch.arange(g.half, device=device, dtype=torch.float32) / g.half
    frequencies = make.place("INV", 1e7**-powers)
    query_out, key_out = make.poisoned("QOUT", rows, g.heads, g.width), make.poisoned("KOUT", rows, g.kv_heads, g.width)
    want = references.attn_prep(queries[..., : g.width], query_weight, positions, frequencies, g.eps)
    want_keys = references.attn_prep(keys, key_weight, positions, frequencies, g.eps)
    return Example(
        heads._attn_prep, heads.LAUNCH_OPTIONS["_attn_prep"], (rows, g.heads + g.kv_heads),
        {
            "QG": queries, "KV": keys, "QN": query_weight, "KN": key_weight, "POS": positions, "INV": frequencies,
            "QOUT": query_out, "KOUT": key_out, "eps": g.eps,
        },
        {"H": g.heads, "HKV": g.kv_heads, "D": g.width, "HALF": g.half, "MROPE": 0, "ROWS": 0, "HSEC": 11, "WSEC": 10},
        lambda: [compare("QOUT", query_out, want, ROUNDED), compare("KOUT", key_out, want_keys, ROUNDED)],
    )  # fmt: skip


def gate_mul(need: Need, device: str) -> Example:
    """The gates are the second halves of QG's heads."""
    make, h, d = Maker(need, device), need.geometry.heads, need.geometry.width
    output, queries = make.normal("O", need.rows, h, d), make.normal("QG", need.rows, h, 2 * d)
    out, sums = make.poisoned("OUT", need.rows, h, d), make.poisoned("XS", need.rows, h * d // 64, dtype=torch.float32)
    want = references.gate_mul(output, queries[..., d:])
    return Example(
        gates._gate_mul, gates.LAUNCH_OPTIONS["_gate_mul"], (need.rows, h),
        {"O": output, "QG": queries, "OUT": out, "XS": sums}, {"H": h, "D": d},
        lambda: [compare("OUT", out, want, ROUNDED), compare("XS", sums, references.group_sums(out.flatten(1)), WIDE)],
    )


def group_sums(need: Need, device: str) -> Example:
    """Rows ``stride`` elements apart, the last one no longer than its width."""
    make, rows = Maker(need, device), need.rows
    groups = need.groups or need.geometry.hidden // 64
    stride = need.stride or groups * 64
    values = make.normal("X", (rows - 1) * stride + groups * 64)
    sums = make.poisoned("XS", rows, groups, dtype=torch.float32)
    want = references.group_sums(values.as_strided((rows, groups * 64), (stride, 1)))
    return Example(
        gates._group_sums, gates.LAUNCH_OPTIONS["_group_sums"], (rows, -(-groups // 16)),
        {"X": values, "XS": sums, "ldx": stride}, {"KG": groups, "GS": 64, "GB": 16},
        lambda: [compare("XS", sums, want, WIDE)],
    )
