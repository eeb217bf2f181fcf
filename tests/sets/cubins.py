"""Small ELF files in the form of cubins."""

from __future__ import annotations

import struct

ELF_HEADER = 64
SECTION_HEADER = 64
BLACKWELL = 100


def cubin_bytes(capability: int, entry: str, *, machine: int = 190) -> bytes:
    """An ELF for `capability` (10 * major + minor) that defines one function; 190 is CUDA's machine number."""
    names = b"\0" + entry.encode() + b"\0"
    sections = b"\0.shstrtab\0.strtab\0.symtab\0"
    symbols = bytes(24) + struct.pack("<IBBHQQ", 1, 0x12, 0, 1, 0, 16)
    bodies = (b"", sections, names, symbols)
    offsets = [ELF_HEADER + sum(map(len, bodies[:index])) for index in range(len(bodies))]
    headers = b"".join(
        struct.pack("<IIQQQQIIQQ", name, kind, 0, 0, offset, len(body), link, 0, 1, size)
        for name, kind, link, size, offset, body in zip((0, 1, 11, 19), (0, 3, 3, 2), (0, 0, 0, 2), (0, 0, 0, 24), offsets, bodies)
    )
    modern = capability >= BLACKWELL
    flags = capability << 8 | 2 if modern else capability << 16 | 0x500 | capability
    ident = b"\x7fELF" + bytes([2, 1, 1, 65 if modern else 51, 8 if modern else 7]) + bytes(7)
    at = ELF_HEADER + sum(map(len, bodies))
    header = ident + struct.pack("<HHIQQQIHHHHHH", 2, machine, 1, 0, 0, at, flags, ELF_HEADER, 0, 0, SECTION_HEADER, 4, 1)
    return header + b"".join(bodies) + headers
