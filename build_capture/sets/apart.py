"""What tells the entries of a function apart, for people."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import msgspec

from build_capture.sets.model import SetKernel


class Apart(msgspec.Struct, frozen=True):
    """What is particular to an entry."""

    hints: str
    """What it serves, without what is plain, aligned pointers and floats, which have no classes: `STREAM=unaligned W=any`."""
    constants: dict[str, str]
    """The constexprs in which the entries of its function differ, each with its kind: `BM` -> `int:16`, or `absent`."""


def tell_apart(kernels: Sequence[SetKernel]) -> list[Apart]:
    """What is particular to each of the entries, those of several functions among them."""
    places: dict[str, list[int]] = defaultdict(list)
    for place, kernel in enumerate(kernels):
        places[kernel.fn].append(place)
    told: dict[int, Apart] = {}
    for own in places.values():
        told |= zip(own, _of_function([kernels[place] for place in own]), strict=True)
    return [told[place] for place in range(len(kernels))]


def _of_function(kernels: Sequence[SetKernel]) -> list[Apart]:
    # A name that some entry has as a parameter is an int that others folded.
    runtime = sorted({param.name for kernel in kernels for param in kernel.params})
    constants = [kernel.constants for kernel in kernels]
    names = sorted({name for each in constants for name in each} - set(runtime))
    varying = [name for name in names if len({each.get(name) for each in constants}) > 1]
    return [
        Apart(_hints(kernel, runtime), {name: each.get(name, "absent") for name in varying}) for kernel, each in zip(kernels, constants, strict=True)
    ]


def _hints(kernel: SetKernel, runtime: Sequence[str]) -> str:
    odd = [f"{param.name}={param.hint}" for param in kernel.params if param.hint not in ("", "aligned")]
    return " ".join([*odd, *(f"{name}=1" for name in runtime if name in kernel.consts)]) or "aligned"
