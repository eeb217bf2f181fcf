"""A stand-in for a kernel of fourteen parameters: it compiles, and computes nothing of use."""

import triton
import triton.language as tl


@triton.jit
def _wide(P0, N1, P2, P3, P4, P5, P6, P7, P8, SEED, N10, N11, N12, OUT):
    total = N1 + N10 + N11 + N12 + tl.load(P2) + tl.load(P3) + tl.load(P4) + tl.load(P7) + tl.load(P8)
    value = tl.load(P5) + tl.load(P6) + tl.load(P0) + (SEED + total).to(tl.float32)
    tl.store(OUT, value)
