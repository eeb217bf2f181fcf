"""Small kernels for the policies: each keeps Triton from a hint, or gains by one, in a way of its own."""

from __future__ import annotations

KERNELS = '''"""Kernels whose arguments Triton knows more or less of."""

import triton
import triton.language as tl

LAUNCH_OPTIONS = {name: {"num_warps": 1, "num_stages": 1} for name in (
    "_unspecialized", "_unhinted", "_annotated", "_typed", "_loose", "_shifted", "_words", "_rows", "_table", "_copy", "_seeds",
)}


@triton.jit(do_not_specialize=["N"])
def _unspecialized(X, N):
    tl.store(X + N, 1.0)


@triton.jit(do_not_specialize_on_alignment=["N"])
def _unhinted(X, N):
    tl.store(X + N, 1.0)


@triton.jit
def _annotated(X, N: int):
    tl.store(X + N, 1.0)


@triton.jit
def _typed(X, N: tl.int32):
    tl.store(X + N, 1.0)


@triton.jit(do_not_specialize=["X"])
def _loose(X, N):
    tl.store(X + N, 1.0)


@triton.jit(do_not_specialize_on_alignment=["X"])
def _shifted(X, N):
    tl.store(X + N, 1.0)


@triton.jit
def _words(T, X):
    """Reads a table as a row: aligned, it moves 128 bits at a time."""
    at = tl.arange(0, 256)
    tl.store(X + at, tl.load(T + at))


@triton.jit
def _rows(T, X, W):
    """Reads one word of a table: neither its alignment nor W widens an access."""
    tl.store(X + tl.load(T + W * tl.program_id(0)), 1.0)


@triton.jit
def _table(T, X, ldx):
    """Reads rows that lie ldx apart: only a multiple of 16 lets it read 128 bits at a time."""
    at = tl.arange(0, 256)
    tl.store(X + at, tl.load(X + ldx * tl.load(T) + at))


@triton.jit
def _seeds(X, S):
    tl.store(X + tl.program_id(0), (S % 7).to(tl.float32))


@triton.jit
def _copy(X, OUT, n):
    at = tl.program_id(0) * 256 + tl.arange(0, 256)
    tl.store(OUT + at, tl.load(X + at, mask=at < n), mask=at < n)
'''
