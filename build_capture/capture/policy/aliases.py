"""Derives what a cubin's aliases claim, so that it serves launches that its own entry refuses. No alias is ever typed.

An entry claims, of each parameter, which values it serves. What a cubin was compiled for bounds what its entries may
claim; the seal of a set holds every reader and writer to that.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection

from build_capture.errors import CaptureError, Exit
from build_capture.plan.needs import Class, Need
from build_capture.sets.aliases import Claims
from build_capture.sets.model import SetKernel, SetParameter

ALIASES_MAX = 1 << 10
"""Of one cubin: engines read every entry of a set when they start."""

def claims_for(need: Need, entry: SetKernel) -> Claims:
    """What an entry of this cubin claims so that it serves the need, and of the other values as few as the exact rule lets it."""
    classes = {parameter.name: parameter.class_ for parameter in need.parameters}
    return tuple(_claim(classes[parameter.name], parameter) for parameter in entry.params)


def _claim(class_: Class | None, own: SetParameter) -> tuple[bool, bool]:
    if own.type != "i32":
        return class_ in (Class.ALIGNED, Class.DIV16), own.nospec
    # The exact rule lets an int with a parameter be 1 under `nospec` alone, and then it may be anything.
    serves_own_class = class_ is (Class.DIV16 if own.div16 else Class.ANY)
    return (own.div16, own.nospec) if serves_own_class or own.nospec else (False, True)


def claims_for_all(need: Need, entry: SetKernel, free: Collection[str]) -> list[Claims]:
    """The claims by which a cubin serves the need whatever the values of the parameters in `free`.

    Raises a `CaptureError` where that takes more entries than engines should read.
    """
    choices = [_every(parameter) if parameter.name in free else [claim] for parameter, claim in zip(entry.params, claims_for(need, entry), strict=True)]
    doubled = [parameter.name for parameter, choice in zip(entry.params, choices, strict=True) if len(choice) > 1]
    if 1 << len(doubled) > ALIASES_MAX:
        raise CaptureError(
            f"{entry.fn} would take {1 << len(doubled):,} aliases, one for every combination of the alignments of {', '.join(doubled)}; "
            f"at most {ALIASES_MAX:,} are allowed",
            mend="use the policy exact or compact",
            code=Exit.KERNEL,
        )
    return list(itertools.product(*choices))


def _every(parameter: SetParameter) -> list[tuple[bool, bool]]:
    assert not parameter.assumes16, "only code that assumes nothing serves every value"
    return [(False, True)] if parameter.type == "i32" else [(False, parameter.nospec), (True, parameter.nospec)]
