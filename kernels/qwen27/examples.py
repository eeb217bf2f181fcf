"""For each kernel an example: real tensors for a given need, one launch, and a comparison with the reference.

    from qwen27.examples import EXAMPLES, Need
    for compared in EXAMPLES["_shared"](Need(rows=17, streams=2, misaligned=frozenset({"ITEMS"})), "cuda"):
        assert compared.error <= compared.limit, compared

An example launches the kernel once with its own LAUNCH_OPTIONS and returns one ``Compared`` for each output. Outputs are
poisoned first, so that what the kernel does not write shows as an infinite error.
"""

from __future__ import annotations

from collections.abc import Callable

from . import round_examples, row_examples
from .example_tools import REAL, Compared, Geometry, Need

__all__ = ["EXAMPLES", "REAL", "Compared", "Geometry", "Need", "worst"]

EXAMPLES: dict[str, Callable[..., list[Compared]]] = {
    "_embed": row_examples.embed,
    "_add_rmsnorm": row_examples.add_rmsnorm,
    "_gdn_pre": row_examples.gdn_pre,
    "_gated_norm": row_examples.gated_norm,
    "_swiglu": row_examples.swiglu,
    "_attn_prep": row_examples.attn_prep,
    "_gate_mul": row_examples.gate_mul,
    "_group_sums": row_examples.group_sums,
    "_paths": round_examples.paths,
    "_shared": round_examples.shared,
    "_tail": round_examples.tail,
    "_merge": round_examples.merge,
}
"""Launch name -> its example, called with (need, device)."""


def worst(function: str, need: Need, device: str) -> Compared:
    """The comparison of this example that comes nearest to its limit, or is furthest past it."""
    return max(EXAMPLES[function](need, device), key=lambda compared: compared.error / compared.limit)
