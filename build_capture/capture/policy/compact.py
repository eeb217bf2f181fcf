"""The fewest cubins at full speed: classes are merged into one generic cubin where its code accesses memory as widely.

What a hint of divisibility buys is wide access: 128 bits an instruction where the code can prove the address, 16 or 32
where it cannot. So the generic code is compiled, and its PTX is compared with that of each code whose place it would
take. Nor may it spill more registers. Nobody types which argument
matters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from build_capture.capture.compile import Variant
from build_capture.capture.policy.generic import mergeable, merged
from build_capture.capture.policy.widths import narrower
from build_capture.plan.needs import Need
from build_capture.sets.elf import parse_cubin


class Apart(msgspec.Struct, frozen=True):
    """Classes of some arguments that stay apart, since one cubin for all would be slower."""

    function: str
    arguments: tuple[str, ...]
    why: str


class Compiles(Protocol):
    """What compiles code once, and says what it came to."""

    def attempt(self, codes: Sequence[Need]) -> None:
        """Compile what compiles."""

    def variant(self, code: Need) -> Variant | None:
        """What was compiled for `code`; None where it does not compile."""


class _Family:
    """Codes that differ only in the classes of arguments that may be merged."""

    def __init__(self, codes: list[Need]) -> None:
        self.codes = codes
        classes = {p.name: {q.class_ for code in codes for q in code.parameters if q.name == p.name} for p in codes[0].parameters}
        self.varying = [name for name in mergeable(codes[0]) if len(classes[name]) > 1]
        self.accepted: tuple[str, ...] = ()

    def trial(self, names: Sequence[str]) -> list[Need]:
        """The codes that are left when `names` are merged."""
        return [merged(code, names) for code in self.codes]

    def problem(self, names: Sequence[str], compiles: Compiles) -> str:
        """Why `names` cannot be merged; empty where they can."""
        for code, generic in zip(self.codes, self.trial(names), strict=True):
            own, other = compiles.variant(code), compiles.variant(generic)
            assert own is not None, "the code that Triton would pick is compiled"
            if other is None:
                return "no code at all: it does not compile"
            if clause := narrower(other.result.widths, own.result.widths) or _spills(other, own):
                return f"{clause} ({code.classes})"
        return ""


def _spills(generic: Variant, specialized: Variant) -> str:
    """That generic code needs more local memory, which is where registers spill to; empty where it does not."""
    more, fewer = (parse_cubin(variant.cubin).functions[variant.result.name].local or 0 for variant in (generic, specialized))
    return f"{more} bytes of local memory instead of {fewer}" if more > fewer else ""


def merge(codes: Sequence[Need], compiles: Compiles) -> tuple[dict[str, Need], list[Apart]]:
    """For the identity of each code the one that takes its place, and what stays apart."""
    families: dict[str, dict[str, Need]] = {}
    for code in codes:
        families.setdefault(merged(code, mergeable(code)).identity, {})[code.identity] = code
    open_families = [family for family in (_Family(list(each.values())) for each in families.values()) if family.varying]
    compiles.attempt([code for family in open_families for code in family.trial(family.varying)])
    split = []
    apart = []
    for family in open_families:
        if why := family.problem(family.varying, compiles):
            split.append(family)
            if len(family.varying) == 1:
                apart.append(Apart(family.codes[0].function, tuple(family.varying), why))
        else:
            family.accepted = tuple(family.varying)
    apart += _merge_one_by_one([family for family in split if len(family.varying) > 1], compiles)
    merges = {code.identity: merged(code, family.accepted) for family in open_families for code in family.codes}
    return {code.identity: merges.get(code.identity, code) for code in codes}, sorted(set(apart), key=lambda each: (each.function, each.arguments, each.why))


def _merge_one_by_one(families: Sequence[_Family], compiles: Compiles) -> list[Apart]:
    """Merge of each family what can be merged, one argument after the other; all families step together, so that compiles run in parallel."""
    apart = []
    for step in range(max((len(family.varying) for family in families), default=0)):
        now = [(family, family.varying[step]) for family in families if step < len(family.varying)]
        compiles.attempt([code for family, name in now for code in family.trial((*family.accepted, name))])
        for family, name in now:
            if why := family.problem((*family.accepted, name), compiles):
                apart.append(Apart(family.codes[0].function, (name,), why))
            else:
                family.accepted += (name,)
    return apart
