"""Attention of a row over the last committed keys and its own drafted path, and the merge of all its partials."""

import triton
import triton.language as tl

from .partials import attend, column, fold, folded_groups, store_partial

LAUNCH_OPTIONS = {
    "_tail": {"num_warps": 4, "num_stages": 1},
    "_merge": {"num_warps": 4, "num_stages": 1},
}


# Keys of a tile of committed keys, and its pipeline's stages.
TILE = tl.constexpr(32)
STAGES = tl.constexpr(3)


@triton.jit
def over_committed(q, KEYS, VALUES, count, o, m, l, HK: tl.constexpr, D: tl.constexpr, SCALE: tl.constexpr):
    """Take the ``count`` keys at KEYS and VALUES, laid (key, KV head, D), into the partial."""
    key = tl.arange(0, TILE)
    at = key[:, None] * (HK * D) + tl.arange(0, D)[None, :]
    for start in tl.range(0, count, TILE, num_stages=STAGES):
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
def load_chunk(PO, PM, at, slot, end, inside, stride, D: tl.constexpr, DS: tl.constexpr):
    """(o [8, DS], m [8, 1]) of ``slot``, empty from ``end`` on; PO and PM point at the first slot's first dim."""
    exists = inside & (slot < end)
    place = slot * stride + at
    o = tl.load(PO + place * D + tl.arange(0, DS)[None, :], mask=exists, other=0.0)
    return o, tl.load(PM + place, mask=exists, other=float("-inf"))


@triton.jit
def load_group(PO, PM, at, slot, slots, inside, stride, D: tl.constexpr, DS: tl.constexpr, GR: tl.constexpr):
    """The four chunks of a group from ``slot`` on, as ``load_chunk`` gives them; chunks that do not exist are empty."""
    tl.static_assert(GR == 4, "a group has 4 chunks")
    a = load_chunk(PO, PM, at, slot, slots, inside, stride, D, DS)
    b = load_chunk(PO, PM, at, slot + 1, slots, inside, stride, D, DS)
    c = load_chunk(PO, PM, at, slot + 2, slots, inside, stride, D, DS)
    d = load_chunk(PO, PM, at, slot + 3, slots, inside, stride, D, DS)
    return a, b, c, d


@triton.jit
def add(o, group_o, group_m, finite):
    """o plus a group's output, both at the maximum ``finite``."""
    return tl.fma(group_o, tl.broadcast_to(tl.exp(group_m - finite), o.shape), o)


@triton.jit
def add_group(o, group, finite):
    """``add`` of a group whose chunks are folded in order first. The sums have no part in this: m stands in for them."""
    a, b, c, d = group
    group_o, group_m, _ = fold(a[0], a[1], a[1], b[0], b[1], b[1])
    group_o, group_m, _ = fold(group_o, group_m, group_m, c[0], c[1], c[1])
    group_o, group_m, _ = fold(group_o, group_m, group_m, d[0], d[1], d[1])
    return add(o, group_o, group_m, finite)


@triton.jit
def maximum_of_slots(PM, at, slots, inside, stride):
    """The largest m [8, 1] of each head's slots, or 0 where all of them are empty."""
    m = tl.full((8, 64), float("-inf"), tl.float32)
    for first in range(0, slots, 64):
        slot = first + tl.arange(0, 64)[None, :]
        m = tl.maximum(m, tl.load(PM + slot * stride + at, mask=inside & (slot < slots), other=float("-inf")))
    maximum = tl.max(m, axis=1, keep_dims=True)
    return tl.where(maximum == float("-inf"), 0.0, maximum)


@triton.jit
def sum_of_slots(PM, PL, at, groups, slots, inside, stride, finite, GR: tl.constexpr):
    """The sum [8, 1] of each head's slots at the maximum ``finite``: a group has the same place whoever folded it."""
    total = tl.zeros((8, 32), tl.float32)
    for first in range(0, groups + (slots - groups + GR - 1) // GR, 32):
        group = first + tl.arange(0, 32)[None, :]
        folded = group < groups
        slot = tl.where(folded, group, groups + (group - groups) * GR)
        end = tl.where(folded, group + 1, slots)
        m = tl.full((8, 32), float("-inf"), tl.float32)
        l = tl.zeros((8, 32), tl.float32)
        for ahead in tl.static_range(GR):
            place = (slot + ahead) * stride + at
            exists = inside & (slot + ahead < end)
            other_m = tl.load(PM + place, mask=exists, other=float("-inf"))
            other_l = tl.load(PL + place, mask=exists, other=0.0)
            _, m, l = fold(l, m, l, other_l, other_m, other_l)
        total = tl.fma(l, tl.exp(m - finite), total)
    return tl.sum(total, axis=1, keep_dims=True)


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
    member = tl.arange(0, 8)[:, None]
    inside = member < G
    at = row * H + tl.program_id(1) * G + member
    dims = tl.program_id(2) * DS
    # A slot is W * H heads, and the slots of a long context pass 2^31 elements.
    stride = tl.full((), W * H, tl.int64)
    # The fold starts from an empty partial that has the maximum of all slots: so no step waits for the one before it to
    # scale its output down. Four groups are loaded before the first is folded: threads exchange weights at each fold, and
    # no load passes that exchange.
    finite = maximum_of_slots(PM, at, slots, inside, stride)
    l = sum_of_slots(PM, PL, at, groups, slots, inside, stride, finite, GR)
    o = tl.zeros((8, DS), tl.float32)
    for slot in range(0, groups, 4):
        a = load_chunk(PO + dims, PM, at, slot, groups, inside, stride, D, DS)
        b = load_chunk(PO + dims, PM, at, slot + 1, groups, inside, stride, D, DS)
        c = load_chunk(PO + dims, PM, at, slot + 2, groups, inside, stride, D, DS)
        d = load_chunk(PO + dims, PM, at, slot + 3, groups, inside, stride, D, DS)
        o = add(add(add(add(o, a[0], a[1], finite), b[0], b[1], finite), c[0], c[1], finite), d[0], d[1], finite)
    fours = groups + (slots - groups) // (4 * GR) * (4 * GR)
    for slot in range(groups, fours, 4 * GR):
        first = load_group(PO + dims, PM, at, slot, slots, inside, stride, D, DS, GR)
        second = load_group(PO + dims, PM, at, slot + GR, slots, inside, stride, D, DS, GR)
        third = load_group(PO + dims, PM, at, slot + 2 * GR, slots, inside, stride, D, DS, GR)
        fourth = load_group(PO + dims, PM, at, slot + 3 * GR, slots, inside, stride, D, DS, GR)
        o = add_group(add_group(o, first, finite), second, finite)
        o = add_group(add_group(o, third, finite), fourth, finite)
    for slot in range(fours, slots, GR):
        o = add_group(o, load_group(PO + dims, PM, at, slot, slots, inside, stride, D, DS, GR), finite)
    lane = tl.arange(0, DS)[None, :]
    tl.store(OUT + at * D + dims + lane, (o / l).to(tl.bfloat16), mask=inside)
