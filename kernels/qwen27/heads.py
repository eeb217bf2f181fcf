"""Attention heads before the attention: norm and rotary position."""

import triton
import triton.language as tl

LAUNCH_OPTIONS = {"_attn_prep": {"num_warps": 2, "num_stages": 1}}


@triton.jit
def normed_at(X, W, lane, scale):
    """bf16(x * scale * w) at ``lane`` of a head, widened again."""
    value = tl.load(X + lane).to(tl.float32) * scale * tl.load(W + lane).to(tl.float32)
    return value.to(tl.bfloat16).to(tl.float32)


@triton.jit
def prepare_head(X, W, OUT, position, INV, eps, D: tl.constexpr, HALF: tl.constexpr):
    """Norm and rotate the head at X [D] into OUT [D]."""
    lane = tl.arange(0, D)
    wide = tl.load(X + lane).to(tl.float32)
    scale = 1.0 / tl.sqrt(tl.sum(wide * wide, axis=0) / D + eps)
    value = normed_at(X, W, lane, scale)
    # Dim d < HALF turns with its partner d + HALF; the partner's own value comes by a second, cached load.
    partner = normed_at(X, W, tl.where(lane < HALF, lane + HALF, tl.where(lane < 2 * HALF, lane - HALF, lane)), scale)
    rotates = lane < 2 * HALF
    angle = position.to(tl.float32) * tl.load(INV + lane % HALF, mask=rotates, other=0.0)
    sine = tl.where(lane < HALF, -tl.sin(angle), tl.sin(angle))
    rotated = value * tl.cos(angle) + partner * sine
    tl.store(OUT + lane, tl.where(rotates, rotated, value).to(tl.bfloat16))


@triton.jit
def _attn_prep(QG, KV, QN, KN, POS, INV, QOUT, KOUT, eps,
               H: tl.constexpr, HKV: tl.constexpr, D: tl.constexpr, HALF: tl.constexpr, MROPE: tl.constexpr,
               ROWS: tl.constexpr, HSEC: tl.constexpr, WSEC: tl.constexpr):
    """RMS norm with the head's weight, rounded to bf16, then rotate-half rotary on the first 2 HALF dims.

    QG [rows, H, 2 D], each head [q | gate]; KV [rows, HKV, D], the key rows; QN, KN [D]; POS [rows]; INV [HALF];
    QOUT [rows, H, D]; KOUT [rows, HKV, D]. Program 1 counts the H query heads, then the HKV key heads. MROPE, ROWS,
    HSEC and WSEC belong to multimodal rotary, which these kernels do not compute.
    """
    tl.static_assert(MROPE == 0, "multimodal rotary is not computed: MROPE must be 0")
    row = tl.program_id(0)
    head = tl.program_id(1)
    position = tl.load(POS + row)
    if head < H:
        at = row * H + head
        prepare_head(QG + at.to(tl.int64) * (2 * D), QN, QOUT + at * D, position, INV, eps, D, HALF)
    else:
        at = row * HKV + head - H
        prepare_head(KV + at * D, KN, KOUT + at * D, position, INV, eps, D, HALF)
