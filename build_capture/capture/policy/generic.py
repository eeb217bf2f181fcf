"""Code that assumes nothing of the arguments whose values change from round to round: ints, and tables of ints."""

from __future__ import annotations

import re
from collections.abc import Collection

import msgspec

from build_capture.plan.needs import Class, Need, Parameter

_WHOLE = re.compile(r"\*?[iu]\d+")


def mergeable(need: Need) -> tuple[str, ...]:
    """The arguments that one cubin may serve in every class: ints, and pointers to ints, which are a round's tables.

    Pointers to floats are data: their alignment decides how wide a row is read.
    """
    return tuple(p.name for p in need.parameters if p.class_ is not None and _WHOLE.fullmatch(p.type))


def merged(need: Need, names: Collection[str]) -> Need:
    """The need whose code assumes nothing of the arguments in `names`."""
    return msgspec.structs.replace(need, parameters=[generic(p) if p.name in names else p for p in need.parameters])


def generic(parameter: Parameter) -> Parameter:
    """The parameter of code that assumes nothing of its value."""
    if parameter.class_ is None:
        return parameter
    return msgspec.structs.replace(parameter, class_=Class.UNALIGNED if parameter.type.startswith("*") else Class.ANY)
