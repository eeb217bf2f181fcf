"""Sums over groups of 64 stored values, which the quantized matrix products after a kernel need."""

import triton
import triton.language as tl


@triton.jit
def store_group_sums(XS, values, first, groups, COUNT: tl.constexpr, GROUP: tl.constexpr):
    """Write the fp32 sums of ``values`` [COUNT * GROUP] to XS[first ..], as far as ``groups`` of them exist.

    The values must already be what was stored: callers round to bf16 and widen again.
    """
    sums = tl.sum(tl.reshape(values, (COUNT, GROUP)), axis=1)
    group = tl.arange(0, COUNT)
    tl.store(XS + first + group, sums, mask=group < groups)
