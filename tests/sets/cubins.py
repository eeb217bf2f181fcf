"""Small ELF files in the form of cubins."""

from __future__ import annotations

import struct
from collections.abc import Sequence

ELF_HEADER = 64
SECTION_HEADER = 64
BLACKWELL = 100
NV_INFO = 0x70000000


def cubin_bytes(
    capability: int,
    entry: str,
    *,
    machine: int = 190,
    parameters: Sequence[int] | None = None,
    ordinals: Sequence[int] | None = None,
    block: Sequence[int] = (),
    cluster: Sequence[int] = (),
    line_tables: bool = False,
    shared: int = 0,
) -> bytes:
    """An ELF for `capability` (10 * major + minor) that defines one function; 190 is CUDA's machine number.

    With `parameters` it says how many bytes each of the function's takes, Triton's two scratch pointers included, and which
    `block` and `cluster` it is launched with; `shared` is the size of the section of its static shared memory.
    """
    names = b"\0" + entry.encode() + b"\0"
    symbols = bytes(24) + struct.pack("<IBBHQQ", 1, 0x12, 0, 1, 0, 16)
    sections = [("", 0, 0, 0, b""), (".strtab", 3, 0, 0, names), (".symtab", 2, 1, 24, symbols)]
    if parameters is not None:
        dimensions = ((0x10, block), (0x3D, cluster))
        records = b"".join(struct.pack("<BBH3I", 4, attribute, 12, *numbers) for attribute, numbers in dimensions if numbers)
        sections.append((f".nv.info.{entry}", NV_INFO, 0, 0, _parameter_records(parameters, ordinals) + records))
    if shared:
        sections.append((f".nv.shared.{entry}", 1, 0, 0, bytes(shared)))
    if line_tables:
        sections.append((".debug_line", 1, 0, 0, b"/home/someone/kernels.py"))
    return _elf(capability, machine, [*sections, (".shstrtab", 3, 0, 0, b"")])


def _parameter_records(sizes: Sequence[int], ordinals: Sequence[int] | None) -> bytes:
    """What `.nv.info.<entry>` says of parameters, the last first: format, attribute, length; index, ordinal, offset, size."""
    records, end = [], 0
    for ordinal, size in zip(range(len(sizes)) if ordinals is None else ordinals, sizes, strict=True):
        offset = -(-end // size) * size
        records.append(struct.pack("<BBHIHHI", 4, 0x17, 12, 0, ordinal, offset, size << 18 | 0x1F000))
        end = offset + size
    return b"".join(reversed(records))


def _elf(capability: int, machine: int, sections: list[tuple[str, int, int, int, bytes]]) -> bytes:
    """An ELF of sections, each a name, type, link, entry size and content; the last holds their names."""
    starts, text = [], b""
    for name, *_ in sections:
        starts.append(len(text))
        text += name.encode() + b"\0"
    bodies = [content for *_, content in sections[:-1]] + [text]
    offsets = [ELF_HEADER + sum(map(len, bodies[:index])) for index in range(len(bodies))]
    headers = b"".join(
        struct.pack("<IIQQQQIIQQ", start, kind, 0, 0, offset, len(body), link, 0, 1, size)
        for start, (_, kind, link, size, _), offset, body in zip(starts, sections, offsets, bodies)
    )
    modern = capability >= BLACKWELL
    flags = capability << 8 | 2 if modern else capability << 16 | 0x500 | capability
    ident = b"\x7fELF" + bytes([2, 1, 1, 65 if modern else 51, 8 if modern else 7]) + bytes(7)
    at = ELF_HEADER + sum(map(len, bodies))
    header = ident + struct.pack("<HHIQQQIHHHHHH", 2, machine, 1, 0, 0, at, flags, ELF_HEADER, 0, 0, SECTION_HEADER, len(bodies), len(bodies) - 1)
    return header + b"".join(bodies) + headers
