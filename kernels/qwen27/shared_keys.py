"""Attention over the whole chunks of the keys that a stream's rows share."""

import triton
import triton.language as tl

from .partials import attend, column, fold, folded_groups, store_partial

LAUNCH_OPTIONS = {"_shared": {"num_warps": 4, "num_stages": 1}}

# Items that one program takes where the plan lists them in a row: 4 items of 16 pairs read each key once, not 4 times.
ITEMS_MOST = tl.constexpr(4)

# Keys of a tile and its pipeline's stages, for one item and for several. The stages are the loops' own, since the launch
# option is what an engine may pin.
TILE = tl.constexpr(64)
STAGES = tl.constexpr(2)
WIDE_TILE = tl.constexpr(32)
WIDE_STAGES = tl.constexpr(2)


@triton.jit
def continues(ITEMS, item, items, stream, first, code):
    """Whether ``item`` exists and holds the 16 pairs from ``first`` of this stream and code."""
    exists = (item >= 0) & (item < items)
    at = ITEMS + item * 3
    same = (tl.load(at, mask=exists, other=-1) == stream) & (tl.load(at + 1, mask=exists, other=-1) == first)
    return exists & same & (tl.load(at + 2, mask=exists, other=0) == code)


@triton.jit
def items_taken(ITEMS, item, items, stream, first, code):
    """How many items this program takes from ``item`` on; 0 where the program of an earlier item takes this one."""
    led = ((first // 16) % ITEMS_MOST != 0) & continues(ITEMS, item - 1, items, stream, first - 16, code)
    taken = tl.where(led, 0, 1)
    following = ~led
    for ahead in tl.static_range(1, ITEMS_MOST):
        place = first + 16 * ahead
        following &= (place // 16) % ITEMS_MOST != 0
        following &= continues(ITEMS, item + ahead, items, stream, place, code)
        taken += following.to(tl.int32)
    return taken


@triton.jit
def chunk_partial(q, KEYS, VALUES, HK: tl.constexpr, D: tl.constexpr, CH: tl.constexpr, SCALE: tl.constexpr,
                  KEYS_TILE: tl.constexpr, LOADS: tl.constexpr):
    """The partial of q [pairs, D] over the CH keys at KEYS and VALUES, laid (key, KV head, D)."""
    pairs: tl.constexpr = q.shape[0]
    o = tl.zeros((pairs, D), tl.float32)
    m = tl.full((pairs,), float("-inf"), tl.float32)
    l = tl.zeros((pairs, 32), tl.float32)
    at = tl.arange(0, KEYS_TILE)[:, None] * (HK * D) + tl.arange(0, D)[None, :]
    every = tl.full((1, KEYS_TILE), 1, tl.int1)
    for start in tl.range(0, CH, KEYS_TILE, num_stages=LOADS):
        k = tl.load(KEYS + start * (HK * D) + at)
        v = tl.load(VALUES + start * (HK * D) + at)
        o, m, l = attend(q, k, v, every, o, m, l, SCALE)
    return o, m, column(l)


@triton.jit
def fold_into(PO, at, inside, so_far_m, so_far_l, o, m, l, D: tl.constexpr):
    """Fold the partial with output columns o [pairs, columns] into those at PO, and return the new m and l."""
    columns = at[:, None] * D + tl.arange(0, o.shape[1])[None, :]
    so_far = tl.load(PO + columns, mask=inside[:, None], other=0.0)
    o, m, l = fold(so_far, so_far_m, so_far_l, o, m, l)
    tl.store(PO + columns, o, mask=inside[:, None])
    return m, l


@triton.jit
def take_pairs(Q, KEYS, VALUES, PO, PM, PL, first_row, kv_head, first_pair, pairs_end, slot, W, chunks,
               H: tl.constexpr, HK: tl.constexpr, D: tl.constexpr, G: tl.constexpr, CH: tl.constexpr,
               SCALE: tl.constexpr, PAIRS: tl.constexpr, KEYS_TILE: tl.constexpr,
               LOADS: tl.constexpr):
    """Fold ``chunks`` chunks in order into ``slot``, for up to PAIRS pairs from ``first_pair``, KEYS_TILE keys at a time."""
    pair = first_pair + tl.arange(0, PAIRS)
    inside = pair < pairs_end
    row = first_row + pair // G
    head = row * H + kv_head * G + pair % G
    lane = tl.arange(0, D)[None, :]
    q = tl.load(Q + head[:, None] * D + lane, mask=inside[:, None], other=0.0)
    at = slot.to(tl.int64) * W * H + head
    for chunk in range(chunks):
        keys = chunk * (CH * HK * D)
        o, m, l = chunk_partial(q, KEYS + keys, VALUES + keys, HK, D, CH, SCALE, KEYS_TILE, LOADS)
        if chunk == 0:
            store_partial(PO, PM, PL, at, inside, o, m, l, D)
        else:
            # The fold so far lies in the slot, and is taken up by halves: registers do not hold two partials of 64 pairs.
            tl.debug_barrier()
            so_far_m = tl.load(PM + at, mask=inside, other=float("-inf"))[:, None]
            so_far_l = tl.load(PL + at, mask=inside, other=0.0)[:, None]
            low, high = tl.split(tl.permute(tl.reshape(o, (PAIRS, 2, D // 2)), (0, 2, 1)))
            fold_into(PO, at, inside, so_far_m, so_far_l, low, m[:, None], l[:, None], D)
            folded_m, folded_l = fold_into(PO + D // 2, at, inside, so_far_m, so_far_l, high, m[:, None], l[:, None], D)
            tl.store(PM + at[:, None], folded_m, mask=inside[:, None])
            tl.store(PL + at[:, None], folded_l, mask=inside[:, None])
        # The next chunk's fold reads what other threads of this program have just written.
        tl.debug_barrier()


@triton.jit
def _shared(Q, KC, VC, OFF, STREAM, ITEMS, PO, PM, PL, W,
            H: tl.constexpr, HK: tl.constexpr, D: tl.constexpr, G: tl.constexpr, CH: tl.constexpr,
            SCALE: tl.constexpr, GR: tl.constexpr):
    """Partials of an item's 16 pairs over one whole chunk, or over one whole group of GR chunks folded in order.

    Q [W, H, D]; KC, VC (key, HK, D) from OFF [streams, 2]; STREAM [streams, 4] = (first row, rows, committed keys,
    slots); ITEMS [items, 3] = (stream, first pair, code); PO [slots, W, H, D]; PM, PL [slots, W, H]. Items that follow
    each other in the plan and differ in their pairs alone are taken by the first one's program, up to 4 of them.
    """
    program = tl.program_id(0)
    item = program // HK
    kv_head = program % HK
    stream = tl.load(ITEMS + item * 3)
    first_pair = tl.load(ITEMS + item * 3 + 1)
    code = tl.load(ITEMS + item * 3 + 2)
    first_row = tl.load(STREAM + stream * 4)
    rows = tl.load(STREAM + stream * 4 + 1)
    committed = tl.load(STREAM + stream * 4 + 2)
    groups = folded_groups(committed, rows, CH, GR)
    whole = code >= 0
    slot = tl.where(whole, code, groups - 1 - code)
    chunk = tl.where(whole, code * GR, groups * GR - 1 - code)
    chunks = tl.where(whole, GR, 1)
    # A padded plan lists items that the keys do not fill.
    filled = tl.where(whole, code < groups, (chunk + 1) * CH <= committed)
    taken = items_taken(ITEMS, item, tl.num_programs(0) // HK, stream, first_pair, code)
    if filled & (taken > 0) & (first_pair < rows * G):
        start = (chunk.to(tl.int64) * CH * HK + kv_head) * D
        keys = KC + tl.multiple_of(tl.load(OFF + stream * 2), 8) + start
        values = VC + tl.multiple_of(tl.load(OFF + stream * 2 + 1), 8) + start
        pairs_end = tl.minimum(rows * G, first_pair + taken * 16)
        if taken == 1:
            take_pairs(Q, keys, values, PO, PM, PL, first_row, kv_head, first_pair, pairs_end, slot, W, chunks,
                       H, HK, D, G, CH, SCALE, 16, TILE, STAGES)
        else:
            take_pairs(Q, keys, values, PO, PM, PL, first_row, kv_head, first_pair, pairs_end, slot, W, chunks,
                       H, HK, D, G, CH, SCALE, 16 * ITEMS_MOST, WIDE_TILE, WIDE_STAGES)
