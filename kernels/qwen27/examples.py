"""For each kernel an example: real tensors for a given need, one launch, and a comparison with the reference.

    from qwen27.examples import EXAMPLES, Need
    for compared in EXAMPLES["_shared"](Need(rows=17, streams=2, misaligned=frozenset({"ITEMS"})), "cuda").run():
        assert compared.error <= compared.limit, compared

`examples` and `rounds` are what a capture on a GPU asks a family for (docs/examples.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from . import asked, round_examples, row_examples, serving
from .example_tools import REAL, Compared, Example, Geometry, Need

__all__ = ["EXAMPLES", "REAL", "Compared", "Example", "Geometry", "Need", "examples", "rounds", "worst"]

EXAMPLES: dict[str, Callable[[Need, str], Example]] = {
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
"""Launch name -> what makes its example for a need on a device."""


def worst(function: str, need: Need, device: str) -> Compared:
    """The comparison of this example that comes nearest to its limit, or is furthest past it."""
    return max(EXAMPLES[function](need, device).run(), key=lambda compared: compared.error / compared.limit)


def examples(need: dict[str, Any], device: str, compact: bool) -> Iterator[Example]:
    """Launches of exactly this need of a capture: as its witness has them, then with more rows of the same classes.

    `compact` keeps to the first, with tensors small enough for a file. Nothing for a function that is not this family's.
    """
    if need["function"] in EXAMPLES:
        for mine in asked.needs_for(need, compact):
            yield EXAMPLES[need["function"]](mine, device)


def rounds(limits: dict[str, int], device: str) -> Iterator[str]:
    """Serve rounds within the limits that between them reach every specialization; yields each one's name."""
    yield from serving.serve(limits, device)
