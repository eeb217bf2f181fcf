"""Stand-ins for the kernels of a mixture of experts: they compile, and compute nothing of use."""

import triton
import triton.language as tl


@triton.jit
def _moe_route(LOGITS, IDS, WEIGHTS, N, E: tl.constexpr, BLOCK: tl.constexpr, K: tl.constexpr):
    at = tl.arange(0, BLOCK)
    logits = tl.load(LOGITS + at, mask=at < E).to(tl.float32)
    tl.store(WEIGHTS + at, logits, mask=at < N)
    tl.store(IDS + at, at, mask=at < K)


@triton.jit
def _moe_gemm(X, W, OUT, M, TILES, BM: tl.constexpr, DOWN: tl.constexpr):
    at = tl.arange(0, BM)
    tl.store(OUT + at, tl.load(X + at, mask=at < M) * tl.load(W + TILES + DOWN), mask=at < M)


@triton.jit
def _moe_shared(OUT, GATE, scale, R):
    tl.store(OUT + R, (tl.load(GATE).to(tl.float32) * scale).to(tl.bfloat16))


@triton.jit
def _moe_plain(OUT, R):
    tl.store(OUT + R, tl.load(OUT))
