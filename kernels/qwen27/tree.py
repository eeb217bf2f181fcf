"""The paths of a round's drafted trees."""

import triton
import triton.language as tl

LAUNCH_OPTIONS = {"_paths": {"num_warps": 1, "num_stages": 1}}


@triton.jit
def _paths(PARENTS, PATHS, DEPTHS, MAXD: tl.constexpr):
    """DEPTHS[row] = rows from the root to ``row``; PATHS[row, 0 .. depth - 1] = those rows, root first.

    PARENTS [rows], -1 at a root; PATHS [rows, MAXD], unwritten past the depth; DEPTHS [rows].
    """
    row = tl.program_id(0)
    step = tl.arange(0, MAXD)
    upward = tl.full((MAXD,), -1, tl.int32)
    node = row
    depth = 0
    # A tree has at most MAXD nodes: the bound also ends a walk over a table that holds a cycle.
    while (node >= 0) & (depth < MAXD):
        upward = tl.where(step == depth, node, upward)
        node = tl.load(PARENTS + node)
        depth += 1
    tl.store(PATHS + row * MAXD + depth - 1 - step, upward, mask=step < depth)
    tl.store(DEPTHS + row, depth)
