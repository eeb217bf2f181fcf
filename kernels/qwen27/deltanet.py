"""What a DeltaNet layer computes between its projection and its recurrence."""

import triton
import triton.language as tl

LAUNCH_OPTIONS = {"_gdn_pre": {"num_warps": 2, "num_stages": 1}}


@triton.jit
def convolve(QKV, CS, CW, WIN, row, state, channel, C: tl.constexpr, NKEEP: tl.constexpr):
    """The depthwise convolution of NKEEP + 1 taps at ``channel``, oldest tap first, in fp32."""
    total = tl.zeros(channel.shape, tl.float32)
    for tap in tl.static_range(NKEEP + 1):
        index = tl.load(WIN + row * (NKEEP + 1) + tap)
        kept = index < NKEEP
        # One of the two loads is masked off: a window mixes kept rows with rows of this call.
        old = tl.load(CS + (state * NKEEP + index).to(tl.int64) * C + channel, mask=kept, other=0.0)
        new = tl.load(QKV + (index - NKEEP).to(tl.int64) * C + channel, mask=index >= NKEEP, other=0.0)
        weight = tl.load(CW + channel * (NKEEP + 1) + tap).to(tl.float32)
        total += tl.where(kept, old, new).to(tl.float32) * weight
    return total


@triton.jit
def store_gates(A, B, ALOG, DTB, G, BETA, at, head):
    """G[at] = exp(-exp(ALOG) * softplus(A + DTB)), BETA[at] = sigmoid(B), with ALOG and DTB of ``head``."""
    raw = tl.load(A + at).to(tl.float32) + tl.load(DTB + head)
    # Past 20 softplus is its input to the last bit, and exp would overflow further on.
    softplus = tl.where(raw > 20.0, raw, tl.log(1.0 + tl.exp(tl.minimum(raw, 20.0))))
    tl.store(G + at, tl.exp(-tl.exp(tl.load(ALOG + head)) * softplus))
    tl.store(BETA + at, 1.0 / (1.0 + tl.exp(-tl.load(B + at).to(tl.float32))))


@triton.jit
def _gdn_pre(QKV, CS, CW, WIN, A, B, ALOG, DTB, Q, K, V, G, BETA, SID,
             C: tl.constexpr, KH: tl.constexpr, VH: tl.constexpr, DK: tl.constexpr, NKEEP: tl.constexpr,
             MULTI: tl.constexpr):
    """Convolution, SiLU and scaling of head = program 1: KH q heads, then KH k heads, then VH v heads.

    QKV [rows, C]; CS [streams, NKEEP, C]; CW [C, NKEEP + 1], oldest tap first; WIN [rows, NKEEP + 1]; A, B [rows, VH];
    ALOG, DTB [VH]; Q, K [rows, KH, DK]; V [rows, VH, DK]; G, BETA [rows, VH]; SID [rows]. With c = bf16(silu(conv)):
    q = c / sqrt(mean(c^2) + 1e-6) / DK, k the same over sqrt(DK) instead of DK, v = c; a v head also has its gates.
    """
    row = tl.program_id(0)
    head = tl.program_id(1)
    lane = tl.arange(0, DK)
    state = 0
    if MULTI:
        state = tl.load(SID + row)
    conv = convolve(QKV, CS, CW, WIN, row, state, head * DK + lane, C, NKEEP)
    value = (conv / (1.0 + tl.exp(-conv))).to(tl.bfloat16)
    if head < 2 * KH:
        wide = value.to(tl.float32)
        scale = 1.0 / tl.sqrt(tl.sum(wide * wide, axis=0) / DK + 1e-6)
        if head < KH:
            tl.store(Q + (row * KH + head) * DK + lane, (wide * (scale / DK)).to(tl.bfloat16))
        else:
            root: tl.constexpr = DK ** -0.5
            tl.store(K + (row * KH + head - KH) * DK + lane, (wide * (scale * root)).to(tl.bfloat16))
    else:
        value_head = head - 2 * KH
        tl.store(V + (row * VH + value_head) * DK + lane, value)
        store_gates(A, B, ALOG, DTB, G, BETA, row * VH + value_head, value_head)
