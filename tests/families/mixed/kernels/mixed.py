"""Stand-ins for two kernels: they compile, and compute nothing of use."""

import triton
import triton.language as tl


@triton.jit
def _mixed_attend(Q, TABLE, W):
    tl.store(Q + W, tl.load(TABLE).to(tl.bfloat16))


@triton.jit
def _mixed_norm(X, W):
    tl.store(X + W, tl.load(X))
