"""Stand-ins for the kernels of two API generations: they compile, and compute nothing of use."""

import triton
import triton.language as tl

LAUNCH_OPTIONS = {"_gen_pinned": {"num_warps": 1, "num_stages": 1}, "_gen_lookup": {"num_warps": 1}}


@triton.jit
def _gen_scale(X, W, FACTOR: tl.constexpr):
    tl.store(X + W, (tl.load(X) * FACTOR).to(tl.bfloat16))


@triton.jit
def _gen_pinned(X):
    tl.store(X, tl.load(X + 1))


@triton.jit
def _gen_lookup(X):
    tl.store(X, tl.load(X + 1))


@triton.jit
def _gen_declared(X, W):
    tl.store(X + W, tl.load(X))
