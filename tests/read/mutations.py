"""Broken inputs made from good ones, the same ones for the same seed."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

_PIECES = [b"(", b")", b"{", b"}", b"[", b"]", b".", b",", b";", b'"', b"'", b"\\\\", b"//", b"@", b"&", b"++", b"\0", b"\xff", b"\t", b"=>", b"|"]
_WORDS = [b"fn ", b"const ", b"return ", b"if ", b"switch ", b"struct {", b"test ", b'@import("x.zig")', b"run", b"nan", b"0x", b"9" * 40, b"1e9999"]


def mutations(text: bytes, count: int, seed: int) -> Iterator[bytes]:
    """`count` mutants of `text`, each one to four edits away: bytes, tokens and stretches removed, repeated, moved, replaced."""
    chance = random.Random(seed)
    tokens = [match.span() for match in re.finditer(rb"\w+|\S", text)]
    words = [match.span() for match in re.finditer(rb"\w+", text)]
    for _ in range(count):
        # A word for a word mostly still parses, so that every second mutant goes beyond the parser.
        edits = chance.randint(1, 4)
        if chance.random() < 0.5:
            yield _renamed(text, words, edits, chance)
            continue
        mutant = text
        for _ in range(edits):
            mutant = _edited(mutant, tokens, chance)
        yield mutant


def _renamed(text: bytes, words: list[tuple[int, int]], edits: int, chance: random.Random) -> bytes:
    # From the end, so that the places before stay where they are.
    for start, end in sorted(chance.sample(words, edits), reverse=True):
        text = text[:start] + chance.choice([text[a:b] for a, b in words if b <= start] or [b"x"]) + text[end:]
    return text


def _edited(text: bytes, tokens: list[tuple[int, int]], chance: random.Random) -> bytes:
    start, end = chance.choice(tokens)
    other_start, other_end = chance.choice(tokens)
    low, high = min(start, other_start), max(end, other_end)
    match chance.randrange(8):
        case 0:
            return text[:start] + text[end:]
        case 1:
            return text[:start] + text[other_start:other_end] + text[end:]
        case 2:
            return text[:end] + chance.choice(_PIECES) + text[end:]
        case 3:
            return text[:start] + chance.choice(_WORDS) + text[end:]
        case 4:
            return text[:start] + bytes([chance.randrange(256)]) + text[start + 1 :]
        case 5:
            return text[:low] + text[high:]
        case 6:
            return text[:low] + text[low:high] + text[low:]
        case _:
            return text[:start]
