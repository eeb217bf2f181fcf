"""The examples of the kernels whose rows do not know of each other. See ``examples``."""

from __future__ import annotations

import torch

from . import deltanet, embedding, gates, heads, norms, references, rounds
from .example_tools import ROUNDED, WIDE, Compared, Maker, Need, compare


def embed(need: Need, device: str) -> list[Compared]:
    """Row 0 takes the vocabulary's last token, whose row offset passes 2^31 at the real geometry."""
    make, d = Maker(need, device), need.geometry.hidden
    vocabulary = need.geometry.vocabulary
    ids = make.integers("IDS", vocabulary, need.rows)
    ids[0] = vocabulary - 1
    words = make.place("Wt", torch.randint(-(2**31), 2**31, (vocabulary, d // 8), generator=make.random, device=device).to(torch.int32))
    scales, biases = make.normal("S", vocabulary, d // 64), make.normal("B", vocabulary, d // 64)
    out = make.poisoned("OUT", need.rows, d)
    embedding._embed[(need.rows, d // 64)](ids, words, scales, biases, out, D=d, **embedding.LAUNCH_OPTIONS["_embed"])
    return [compare("OUT", out, references.embed(ids, words, scales, biases), ROUNDED)]


def add_rmsnorm(need: Need, device: str) -> list[Compared]:
    """With a residual, H is an output; without, R and H are X, as a launch passes them, and X must stay as it was."""
    make, d = Maker(need, device), need.geometry.hidden
    x, weight = make.normal("X", need.rows, d), make.normal("W", d)
    residual = make.normal("R", need.rows, d) if need.residual else None
    hidden, y = make.poisoned("H", need.rows, d) if need.residual else x, make.poisoned("Y", need.rows, d)
    sums = make.poisoned("XS", need.rows, d // 64, dtype=torch.float32)
    want_hidden, want = references.add_rmsnorm(x, residual, weight, need.geometry.eps)
    norms._add_rmsnorm[(need.rows,)](
        x, x if residual is None else residual, weight, hidden, y, sums, need.geometry.eps,
        D=d, BLOCK=1 << (d - 1).bit_length(), HAS_R=int(need.residual), **norms.LAUNCH_OPTIONS["_add_rmsnorm"],
    )
    return [compare("H", hidden, want_hidden, 1e-12), compare("Y", y, want, ROUNDED), compare("XS", sums, references.group_sums(y), WIDE)]


def gdn_pre(need: Need, device: str) -> list[Compared]:
    """A round's windows; with one stream SID is WIN and MULTI 0. Some gates have inputs past 20."""
    make, g = Maker(need, device), need.geometry
    kh, vh, dk, rows = g.key_heads, g.value_heads, g.delta_width, need.rows
    width, multi = (2 * kh + vh) * dk, need.streams > 1
    share = [rows // need.streams + (stream < rows % need.streams) for stream in range(need.streams)]
    made = rounds.tables([rounds.chain(0, count) for count in share], [0] * rows, 1)
    windows = make.table("WIN", made["WIN"]).view(rows, 4)
    streams = make.table("SID", made["SID"]) if multi else windows
    qkv, weight = make.normal("QKV", rows, width), make.normal("CW", width, 4)
    state = make.normal("CS", need.streams, rounds.KEPT, width)
    a, b = make.normal("A", rows, vh, scale=15.0), make.normal("B", rows, vh, scale=3.0)
    a_log, dt_bias = make.normal("ALOG", vh, dtype=torch.float32), make.normal("DTB", vh, dtype=torch.float32)
    q, k = (make.poisoned(name, rows, kh, dk) for name in "QK")
    v = make.poisoned("V", rows, vh, dk)
    decay, beta = (make.poisoned(name, rows, vh, dtype=torch.float32) for name in ("G", "BETA"))
    deltanet._gdn_pre[(rows, 2 * kh + vh)](
        qkv, state, weight, windows, a, b, a_log, dt_bias, q, k, v, decay, beta, streams,
        C=width, KH=kh, VH=vh, DK=dk, NKEEP=rounds.KEPT, MULTI=int(multi), **deltanet.LAUNCH_OPTIONS["_gdn_pre"],
    )
    conv = references.convolution(qkv, state, weight, windows, torch.tensor(made["SID"], device=device))
    want = references.gdn_pre(conv, a, b, a_log, dt_bias, kh, dk)
    limits = (ROUNDED, ROUNDED, ROUNDED, WIDE, WIDE)
    return [compare(name, *pair, limit) for name, pair, limit in zip(("Q", "K", "V", "G", "BETA"), zip((q, k, v, decay, beta), want), limits)]


def gated_norm(need: Need, device: str) -> list[Compared]:
    """Every value head of every row."""
    make, vh, dv = Maker(need, device), need.geometry.value_heads, need.geometry.delta_width
    y, z, weight = make.normal("Yr", need.rows, vh, dv), make.normal("Z", need.rows, vh, dv), make.normal("W", dv)
    out, sums = make.poisoned("OUT", need.rows, vh, dv), make.poisoned("XS", need.rows, vh * dv // 64, dtype=torch.float32)
    norms._gated_norm[(need.rows, vh)](y, z, weight, out, sums, need.geometry.eps, VH=vh, DV=dv, **norms.LAUNCH_OPTIONS["_gated_norm"])
    want = references.gated_norm(y, z, weight, need.geometry.eps)
    return [compare("OUT", out, want, ROUNDED), compare("XS", sums, references.group_sums(out.flatten(1)), WIDE)]


def swiglu(need: Need, device: str) -> list[Compared]:
    """Blocks of the intermediate width."""
    make, n, block = Maker(need, device), need.geometry.intermediate, need.geometry.block
    gate, up = make.normal("GATE", need.rows, n, scale=3.0), make.normal("UP", need.rows, n)
    out, sums = make.poisoned("OUT", need.rows, n), make.poisoned("XS", need.rows, n // 64, dtype=torch.float32)
    gates._swiglu[(need.rows, -(-n // block))](gate, up, out, sums, N=n, BLOCK=block, **gates.LAUNCH_OPTIONS["_swiglu"])
    return [compare("OUT", out, references.swiglu(gate, up), ROUNDED), compare("XS", sums, references.group_sums(out), WIDE)]


def attn_prep(need: Need, device: str) -> list[Compared]:
    """Positions up to 262143."""
    make, g, rows = Maker(need, device), need.geometry, need.rows
    queries, keys = make.normal("QG", rows, g.heads, 2 * g.width), make.normal("KV", rows, g.kv_heads, g.width)
    query_weight, key_weight = make.normal("QN", g.width), make.normal("KN", g.width)
    positions = make.integers("POS", 262144, rows)
    powers = torch.arange(g.half, device=device, dtype=torch.float32) / g.half
    frequencies = make.place("INV", 1e7**-powers)
    query_out, key_out = make.poisoned("QOUT", rows, g.heads, g.width), make.poisoned("KOUT", rows, g.kv_heads, g.width)
    heads._attn_prep[(rows, g.heads + g.kv_heads)](
        queries, keys, query_weight, key_weight, positions, frequencies, query_out, key_out, g.eps,
        H=g.heads, HKV=g.kv_heads, D=g.width, HALF=g.half, MROPE=0, ROWS=0, HSEC=11, WSEC=10, **heads.LAUNCH_OPTIONS["_attn_prep"],
    )
    want = references.attn_prep(queries[..., : g.width], query_weight, positions, frequencies, g.eps)
    want_keys = references.attn_prep(keys, key_weight, positions, frequencies, g.eps)
    return [compare("QOUT", query_out, want, ROUNDED), compare("KOUT", key_out, want_keys, ROUNDED)]


def gate_mul(need: Need, device: str) -> list[Compared]:
    """The gates are the second halves of QG's heads."""
    make, h, d = Maker(need, device), need.geometry.heads, need.geometry.width
    output, queries = make.normal("O", need.rows, h, d), make.normal("QG", need.rows, h, 2 * d)
    out, sums = make.poisoned("OUT", need.rows, h, d), make.poisoned("XS", need.rows, h * d // 64, dtype=torch.float32)
    gates._gate_mul[(need.rows, h)](output, queries, out, sums, H=h, D=d, **gates.LAUNCH_OPTIONS["_gate_mul"])
    want = references.gate_mul(output, queries[..., d:])
    return [compare("OUT", out, want, ROUNDED), compare("XS", sums, references.group_sums(out.flatten(1)), WIDE)]


def group_sums(need: Need, device: str) -> list[Compared]:
    """Rows ``stride`` elements apart, the last one no longer than its width."""
    make, rows = Maker(need, device), need.rows
    groups = need.groups or need.geometry.hidden // 64
    stride = need.stride or groups * 64
    values = make.normal("X", (rows - 1) * stride + groups * 64)
    sums = make.poisoned("XS", rows, groups, dtype=torch.float32)
    gates._group_sums[(rows, -(-groups // 16))](values, sums, stride, KG=groups, GS=64, GB=16, **gates.LAUNCH_OPTIONS["_group_sums"])
    want = references.group_sums(values.as_strided((rows, groups * 64), (stride, 1)))
    return [compare("XS", sums, want, WIDE)]
