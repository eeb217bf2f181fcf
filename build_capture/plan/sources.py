"""Where the needs of each kernel come from, and what rounds prove about its pointers."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from build_capture.plan.needs import Class, Need


class KernelSource(msgspec.Struct, frozen=True):
    """Where the needs of one kernel come from."""

    function: str
    source: str
    """`rounds`, `domains`, or `rounds and domains`."""
    never_unaligned: list[str]
    """Pointers that every round aligns: the unaligned class is proved impossible, not only left out."""
    never_aligned: list[str]
    """Pointers that no round aligns."""


def kernel_sources(needs: Sequence[Need]) -> list[KernelSource]:
    """A record for each kernel, sorted by name. Domains prove nothing about pointers: what they give is what was asked."""
    return [_source([need for need in needs if need.function == function]) for function in sorted({need.function for need in needs})]


def _source(needs: list[Need]) -> KernelSource:
    by_rounds = [need for need in needs if need.launches > need.launches_of_calls]
    by_domains = [need for need in needs if need.launches_of_calls > 0]
    words = [word for word, some in (("rounds", by_rounds), ("domains", by_domains)) if some]
    seen: dict[str, set[Class | None]] = {}
    for need in by_rounds if not by_domains else ():
        for parameter in need.parameters:
            if parameter.type.startswith("*"):
                seen.setdefault(parameter.name, set()).add(parameter.class_)
    return KernelSource(
        function=needs[0].function,
        source=" and ".join(words),
        never_unaligned=[name for name, classes in seen.items() if classes == {Class.ALIGNED}],
        never_aligned=[name for name, classes in seen.items() if classes == {Class.UNALIGNED}],
    )


def show_source(source: KernelSource) -> str:
    """What rounds prove about a kernel's pointers, in words."""
    parts = [(source.never_unaligned, "never unaligned"), (source.never_aligned, "never aligned")]
    return "; ".join(f"{' '.join(names)} {words}" for names, words in parts if names)
