"""Partial softmax results of an attention, and the one way in which two of them become one.

A partial over some keys is (o, m, l): the unnormalised output, the running maximum of the scaled scores, and the sum of
exp(score - m). The empty partial is (0, -inf, 0). Every kernel folds with ``fold``, and every product that feeds a sum
is an explicit fused multiply-add, so that a row's bits do not depend on which kernel folded it.
"""

import triton
import triton.language as tl


@triton.jit
def fold(o, m, l, other_o, other_m, other_l):
    """The partial over both key ranges, this one's keys first. Folding the empty partial in changes no bit.

    o [heads, dims]; m, l [heads, 1].
    """
    maximum = tl.maximum(m, other_m)
    # Both empty: -inf - -inf would be a NaN.
    finite = tl.where(maximum == float("-inf"), 0.0, maximum)
    keep = tl.exp(m - finite)
    add = tl.exp(other_m - finite)
    return tl.fma(o, tl.broadcast_to(keep, o.shape), other_o * add), maximum, tl.fma(l, keep, other_l * add)


@triton.jit
def attend(q, k, v, inside, o, m, l, SCALE: tl.constexpr):
    """Take one tile of keys into the partial (o, m, l) of 16 or more pairs.

    q [pairs, D]; k, v [keys, D]; inside [keys] or [pairs, keys]; o [pairs, D]; m [pairs]; l [pairs, 32], 32 equal columns.
    """
    scores = tl.where(inside, tl.dot(q, tl.trans(k)), float("-inf"))
    maximum = tl.maximum(m, tl.max(scores, axis=1) * SCALE)
    finite = tl.where(maximum == float("-inf"), 0.0, maximum)
    weights = tl.exp(tl.fma(scores, tl.full(scores.shape, SCALE, tl.float32), -finite[:, None])).to(tl.bfloat16)
    keep = tl.exp(m - finite)[:, None]
    # The sum is a product with ones: the matrix unit's order of addition does not follow the layout of the tile.
    ones = tl.full((k.shape[0], 32), 1.0, tl.float32).to(tl.bfloat16)
    return tl.dot(weights, v, o * keep), maximum, tl.dot(weights, ones, l * keep)


@triton.jit
def column(l):
    """The one value that the 32 equal columns of l [pairs, 32] hold."""
    return tl.max(l, axis=1)


@triton.jit
def folded_groups(committed, rows, CH: tl.constexpr, GR: tl.constexpr):
    """How many whole groups of a stream's committed keys one program folds: none where that would idle the card."""
    groups = committed // (CH * GR)
    return tl.where(groups * rows >= 64, groups, 0)


@triton.jit
def store_partial(PO, PM, PL, at, inside, o, m, l, D: tl.constexpr):
    """Write a partial whose heads lie at ``at`` [heads] (an element index of PM and PL)."""
    lane = tl.arange(0, D)
    tl.store(PO + at[:, None] * D + lane[None, :], o, mask=inside[:, None])
    tl.store(PM + at, m, mask=inside)
    tl.store(PL + at, l, mask=inside)
