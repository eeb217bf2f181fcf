"""How wide the memory accesses of compiled code are: what a hint of alignment buys, read from the code itself."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

_ACCESS = re.compile(r"\b(ld|st|atom|red)((?:\.[\w:]+)+)\s")
_COPY = re.compile(r"\bcp\.async\.c[ag]\.shared(?:::\w+)?\.global[^;\[]*\[[^\]]*\],\s*\[[^\]]*\],\s*(0x[0-9a-fA-F]+|\d+)")
COPY = "cp.async"
"""The kind of copies from global to shared memory that the code does not wait for."""

_MATRIX = re.compile(r"\b(ldmatrix|stmatrix)((?:\.[\w:]+)+)\s")
_BITS = re.compile(r"[a-z]+?(8|16|32|64|128)(?:x2)?")
_MATRIX_BITS = 32
"""What one lane moves of one 8 by 8 matrix of 16-bit values."""


def access_widths(ptx: str) -> dict[str, int]:
    """How many instructions of PTX access global or shared memory, by kind and width in bits: `ld.global.128` -> 4."""
    counts: Counter[str] = Counter()
    for name, rest in _ACCESS.findall(ptx):
        words = rest[1:].split(".")
        space = next((word.partition("::")[0] for word in words if word.partition("::")[0] in ("global", "shared")), None)
        bits = _BITS.fullmatch(words[-1])
        if space is not None and bits is not None:
            vector = next((int(word[1:]) for word in words if re.fullmatch(r"v\d", word)), 1)
            counts[f"{name}.{space}.{vector * int(bits[1])}"] += 1
    for size in _COPY.findall(ptx):
        counts[f"{COPY}.{8 * int(size, 0)}"] += 1
    for name, rest in _MATRIX.findall(ptx):
        times = next((int(word[1:]) for word in rest[1:].split(".") if re.fullmatch(r"x\d", word)), 1)
        counts[f"{name}.{times * _MATRIX_BITS}"] += 1
    return dict(sorted(counts.items()))


def narrower(generic: Mapping[str, int], specialized: Mapping[str, int]) -> str:
    """In what the generic code's accesses are narrower than the specialized code's, as a clause; empty where in nothing.

    They are narrower where, of some kind and for some width, more of them are below that width, and where less is copied
    to shared memory asynchronously: such a copy takes 32 bits at the least, so that code which cannot prove as much waits.
    """
    copied, wanted = _bits(generic, COPY), _bits(specialized, COPY)
    if copied < wanted:
        return f"{copied} bits copied asynchronously instead of {wanted}"
    for kind in sorted({_split(name)[0] for name in (*generic, *specialized)}):
        for width in sorted({_split(name)[1] for name in (*generic, *specialized)}):
            more, fewer = (_below(counts, kind, width) for counts in (generic, specialized))
            if more > fewer:
                return f"{more} {kind} below {width} bits instead of {fewer}"
    return ""


def _bits(counts: Mapping[str, int], kind: str) -> int:
    return sum(count * _split(name)[1] for name, count in counts.items() if _split(name)[0] == kind)


def _split(name: str) -> tuple[str, int]:
    kind, _, width = name.rpartition(".")
    return kind, int(width)


def _below(counts: Mapping[str, int], kind: str, width: int) -> int:
    return sum(count for name, count in counts.items() if _split(name)[0] == kind and _split(name)[1] < width)
