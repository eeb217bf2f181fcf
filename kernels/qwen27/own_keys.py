"""Attention of a row over the last committed keys and its own drafted path, and the merge of all its partials."""

import triton
import triton.language as tl

from .partials import attend, column, fold, folded_groups, store_partial

LAUNCH_OPTIONS = {
    "_tail": {"num_warps": 4, "num_stages": 2},
    "_merge": {"num_warps": 4, "num_stages": 1},
}


@triton.jit
def over_committed(q, KEYS, VALUES, count, o, m, l, HK: tl.constexpr, D: tl.constexpr, SCALE: tl.constexpr):
    """Take the ``count`` keys at KEYS and VALUES, laid (key, KV head, D), into the partial."""
    key = tl.arange(0, 64)
    at = key[:, None] * (HK * D) + tl.arange(0, D)[None, :]
    for start in range(0, count, 64):
        inside = start + key < count
        k = tl.load(KEYS + start * (HK * D) + at, mask=inside[:, None], other=0.0)
        v = tl.load(VALUES + start * (HK * D) + at, mask=inside[:, None], other=0.0)
        o, m, l = attend(q, k, v, inside[None, :], o, m, l, SCALE)
    return o, m, l


@triton.jit
def over_path(q, KN, VN, PATH, begin, end, kv_head, o, m, l, HK: tl.constexpr, D: tl.constexpr, SCALE: tl.constexpr):
    """Take the rows PATH[begin .. end - 1] of KN and VN [rows, HK, D] into the partial."""
    lane = tl.arange(0, D)[None, :]
    for start in range(begin, end, 32):
        step = start + tl.arange(0, 32)
        inside = step < end
        row = tl.load(PATH + step, mask=inside, other=0)
        at = (row * HK + kv_head)[:, None] * D + lane
        k = tl.load(KN + at, mask=inside[:, None], other=0.0)
        v = tl.load(VN + at, mask=inside[:, None], other=0.0)
        o, m, l = attend(q, k, v, inside[None, :], o, m, l, SCALE)
    return o, m, l


@triton.jit
def _tail(Q, KN, VN, KC, VC, OFF, STREAM, ROWS, PATHS, DEPTHS, PO, PM, PL, W,
          H: tl.constexpr, HK: tl.constexpr, D: tl.constexpr, G: tl.constexpr, CH: tl.constexpr, MAXD: tl.constexpr,
          SCALE: tl.constexpr, GR: tl.constexpr):
    """The partial of one row and KV head over tail chunk = program 2: the chunk that the committed keys end in, or the next.

    The chunk's committed keys come first, then those of the row's path that it reaches. Q [W, H, D]; KN, VN [W, HK, D];
    KC, VC, OFF, STREAM, PO, PM, PL as for ``_shared``; ROWS [W], a row's stream; PATHS [W, MAXD]; DEPTHS [W].
    """
    row = tl.program_id(0)
    kv_head = tl.program_id(1)
    stream = tl.load(ROWS + row)
    rows = tl.load(STREAM + stream * 4 + 1)
    committed = tl.load(STREAM + stream * 4 + 2)
    slots = tl.load(STREAM + stream * 4 + 3)
    chunk = committed // CH + tl.program_id(2)
    slot = chunk - (GR - 1) * folded_groups(committed, rows, CH, GR)
    if slot < slots:
        member = tl.arange(0, 16)
        head = kv_head * G + member
        inside = member < G
        q = tl.load(Q + (row * H + head)[:, None] * D + tl.arange(0, D)[None, :], mask=inside[:, None], other=0.0)
        o = tl.zeros((16, D), tl.float32)
        m = tl.full((16,), float("-inf"), tl.float32)
        l = tl.zeros((16, 32), tl.float32)
        start = (chunk.to(tl.int64) * CH * HK + kv_head) * D
        keys = KC + tl.multiple_of(tl.load(OFF + stream * 2), 8) + start
        values = VC + tl.multiple_of(tl.load(OFF + stream * 2 + 1), 8) + start
        o, m, l = over_committed(q, keys, values, committed - chunk * CH, o, m, l, HK, D, SCALE)
        begin = tl.maximum(chunk * CH - committed, 0)
        end = tl.minimum(tl.load(DEPTHS + row), (chunk + 1) * CH - committed)
        o, m, l = over_path(q, KN, VN, PATHS + row * MAXD, begin, end, kv_head, o, m, l, HK, D, SCALE)
        at = (slot.to(tl.int64) * W + row) * H + head
        store_partial(PO, PM, PL, at, inside, o, m, column(l), D)


@triton.jit
def load_partial(PO, PM, PL, at, slot, end, inside, stride, D: tl.constexpr, DS: tl.constexpr):
    """The partial of ``slot``, empty from ``end`` on. PO, PM, PL point at the first slot; ``stride`` is a slot's heads."""
    exists = inside & (slot < end)
    place = slot * stride + at
    lane = tl.arange(0, DS)[None, :]
    o = tl.load(PO + place[:, None] * D + lane, mask=exists[:, None], other=0.0)
    return o, tl.load(PM + place, mask=exists, other=float("-inf")), tl.load(PL + place, mask=exists, other=0.0)


@triton.jit
def _merge(PO, PM, PL, OUT, STREAM, ROWS, W,
           H: tl.constexpr, D: tl.constexpr, G: tl.constexpr, DS: tl.constexpr, CH: tl.constexpr, GR: tl.constexpr):
    """OUT[row, head] = bf16(o / l) of all the row's slots, folded in key order, for DS dims of G heads.

    Whole groups come first, each one slot; then the chunks, GR by GR, each four folded before they are folded in: a group
    that one program folded gives the same bits as its chunks. PO, PM, PL, STREAM, ROWS as for ``_tail``; OUT [W, H, D].
    """
    row = tl.program_id(0)
    stream = tl.load(ROWS + row)
    rows = tl.load(STREAM + stream * 4 + 1)
    committed = tl.load(STREAM + stream * 4 + 2)
    slots = tl.load(STREAM + stream * 4 + 3)
    groups = folded_groups(committed, rows, CH, GR)
    member = tl.arange(0, 8)
    inside = member < G
    at = row * H + tl.program_id(1) * G + member
    dims = tl.program_id(2) * DS
    # A slot is W * H heads, and the slots of a long context pass 2^31 elements.
    stride = tl.full((), W * H, tl.int64)
    o = tl.zeros((8, DS), tl.float32)
    m = tl.full((8,), float("-inf"), tl.float32)
    l = tl.zeros((8,), tl.float32)
    for slot in tl.range(0, groups, loop_unroll_factor=4):
        go, gm, gl = load_partial(PO + dims, PM, PL, at, slot, groups, inside, stride, D, DS)
        o, m, l = fold(o, m, l, go, gm, gl)
    for slot in tl.range(groups, slots, GR, loop_unroll_factor=4):
        go, gm, gl = load_partial(PO + dims, PM, PL, at, slot, slots, inside, stride, D, DS)
        for ahead in tl.static_range(1, GR):
            co, cm, cl = load_partial(PO + dims, PM, PL, at, slot + ahead, slots, inside, stride, D, DS)
            go, gm, gl = fold(go, gm, gl, co, cm, cl)
        o, m, l = fold(o, m, l, go, gm, gl)
    lane = tl.arange(0, DS)[None, :]
    tl.store(OUT + at[:, None] * D + dims + lane, (o / l[:, None]).to(tl.bfloat16), mask=inside[:, None])
