"""Element-wise gates, and the group sums of rows that another kernel wrote."""

import triton
import triton.language as tl

from .sums import store_group_sums

LAUNCH_OPTIONS = {
    "_swiglu": {"num_warps": 4, "num_stages": 1},
    "_gate_mul": {"num_warps": 2, "num_stages": 1},
    "_group_sums": {"num_warps": 4, "num_stages": 1},
}


@triton.jit
def _swiglu(GATE, UP, OUT, XS, N: tl.constexpr, BLOCK: tl.constexpr):
    """OUT = bf16(silu(GATE) * UP), BLOCK columns a program, and XS of OUT.

    GATE, UP, OUT [rows, N]; XS [rows, N / 64].
    """
    row = tl.program_id(0)
    block = tl.program_id(1)
    column = block * BLOCK + tl.arange(0, BLOCK)
    inside = column < N
    at = row.to(tl.int64) * N + column
    gate = tl.load(GATE + at, mask=inside, other=0.0).to(tl.float32)
    up = tl.load(UP + at, mask=inside, other=0.0).to(tl.float32)
    out = (gate / (1.0 + tl.exp(-gate)) * up).to(tl.bfloat16)
    tl.store(OUT + at, out, mask=inside)
    first = block * (BLOCK // 64)
    store_group_sums(XS, out.to(tl.float32), row * (N // 64) + first, N // 64 - first, BLOCK // 64, 64)


@triton.jit
def _gate_mul(O, QG, OUT, XS, H: tl.constexpr, D: tl.constexpr):
    """OUT = bf16(O * sigmoid(gate)) for head = program 1, the gate from QG's second half, and XS of OUT.

    O, OUT [rows, H, D]; QG [rows, H, 2 D], each head [q | gate]; XS [rows, H * D / 64].
    """
    head = tl.program_id(0) * H + tl.program_id(1)
    lane = tl.arange(0, D)
    value = tl.load(O + head * D + lane).to(tl.float32)
    gate = tl.load(QG + head.to(tl.int64) * (2 * D) + D + lane).to(tl.float32)
    out = (value / (1.0 + tl.exp(-gate))).to(tl.bfloat16)
    tl.store(OUT + head * D + lane, out)
    store_group_sums(XS, out.to(tl.float32), head * (D // 64), D // 64, D // 64, 64)


@triton.jit
def _group_sums(X, XS, ldx, KG: tl.constexpr, GS: tl.constexpr, GB: tl.constexpr):
    """XS[row, g] = sum of X[row, GS g .. GS g + GS - 1], GB groups a program.

    X: rows of KG * GS values that lie ``ldx`` elements apart; XS [rows, KG].
    """
    row = tl.program_id(0)
    first = tl.program_id(1) * GB
    lane = tl.arange(0, GB * GS)
    inside = first * GS + lane < KG * GS
    values = tl.load(X + row.to(tl.int64) * ldx + first * GS + lane, mask=inside, other=0.0).to(tl.float32)
    store_group_sums(XS, values, row * KG + first, KG - first, GB, GS)
