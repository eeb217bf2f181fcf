"""Root-mean-square norms: of a hidden row, and gated of a DeltaNet value head."""

import triton
import triton.language as tl

from .sums import store_group_sums

LAUNCH_OPTIONS = {
    "_add_rmsnorm": {"num_warps": 8, "num_stages": 1},
    "_gated_norm": {"num_warps": 1, "num_stages": 1},
}


@triton.jit
def _add_rmsnorm(X, R, W, H, Y, XS, eps, D: tl.constexpr, BLOCK: tl.constexpr, HAS_R: tl.constexpr):
    """H = bf16(X + R); Y = bf16(H / sqrt(mean(H^2) + eps) * W); XS[row, g] = sum of Y's group g of 64.

    X, R, H, Y [rows, D]; W [D]; XS [rows, D / 64]. Without HAS_R, X stands for H and H is not written.
    """
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < D
    at = row * D + column
    hidden = tl.load(X + at, mask=inside, other=0.0)
    if HAS_R:
        hidden = (hidden.to(tl.float32) + tl.load(R + at, mask=inside, other=0.0).to(tl.float32)).to(tl.bfloat16)
        tl.store(H + at, hidden, mask=inside)
    # The norm reads what was stored, so that the next kernel that reads H sees the same row.
    wide = hidden.to(tl.float32)
    scale = 1.0 / tl.sqrt(tl.sum(wide * wide, axis=0) / D + eps)
    weight = tl.load(W + column, mask=inside, other=0.0).to(tl.float32)
    normed = (wide * scale * weight).to(tl.bfloat16)
    tl.store(Y + at, normed, mask=inside)
    store_group_sums(XS, normed.to(tl.float32), row * (D // 64), D // 64, BLOCK // 64, 64)


@triton.jit
def _gated_norm(Yr, Z, W, OUT, XS, eps, VH: tl.constexpr, DV: tl.constexpr):
    """OUT = bf16(silu(Z) * (Yr / sqrt(mean(Yr^2) + eps) * W)) for value head = program 1; XS of OUT.

    Yr, Z, OUT [rows, VH, DV]; W [DV]; XS [rows, VH * DV / 64].
    """
    head = tl.program_id(0) * VH + tl.program_id(1)
    column = tl.arange(0, DV)
    at = head * DV + column
    y = tl.load(Yr + at).to(tl.float32)
    z = tl.load(Z + at).to(tl.float32)
    weight = tl.load(W + column).to(tl.float32)
    normed = y * (1.0 / tl.sqrt(tl.sum(y * y, axis=0) / DV + eps)) * weight
    out = (z / (1.0 + tl.exp(-z)) * normed).to(tl.bfloat16)
    tl.store(OUT + at, out)
    store_group_sums(XS, out.to(tl.float32), head * (DV // 64), DV // 64, DV // 64, 64)
