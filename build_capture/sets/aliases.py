"""Aliases: the further entries by which one cubin serves launches that its own entry refuses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from build_capture.sets.model import SetKernel
from build_capture.sets.pack import file_order
from build_capture.sets.seal import sealed

Claims = tuple[tuple[bool, bool], ...]
"""`div16` and `nospec` of each parameter of an entry."""


def claims_of(entry: SetKernel) -> Claims:
    """What an entry claims."""
    return tuple((parameter.div16, parameter.nospec) for parameter in entry.params)


def aliases_of(own: SetKernel, claims: Iterable[Claims]) -> list[SetKernel]:
    """The aliases of a cubin with these claims, sealed; those of its `own` entry and repeated ones add none."""
    return [
        sealed(
            msgspec.structs.replace(
                own,
                params=[msgspec.structs.replace(p, div16=div16, nospec=nospec) for p, (div16, nospec) in zip(own.params, claim, strict=True)],
                alias=True,
            )
        )
        for claim in sorted(set(claims) - {claims_of(own)})
    ]


def reachable(own: Sequence[SetKernel], aliases: Iterable[SetKernel]) -> list[SetKernel]:
    """Of the aliases, in their order in a file, those that a launch can come to: no entry of the same identity is before them."""
    taken = {entry.identity for entry in own}
    found = []
    for alias in sorted(aliases, key=file_order):
        if alias.identity not in taken:
            taken.add(alias.identity)
            found.append(alias)
    return found
