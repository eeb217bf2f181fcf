"""What a cubin, a CUDA ELF, says of itself. No byte of it is trusted: reading it ends, in facts or in an `ElfProblem`. As zig_bridge/verify/elf.zig."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

import msgspec

_HEADER = struct.Struct("<4sBBBBB7xHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")

_RECORD = struct.Struct("<BBH")
_COUNT = struct.Struct("<II")
_PARAMETER = struct.Struct("<IHHI")
_DIMENSIONS = struct.Struct("<III")

_SIZED = 4
"""The format of the records of `.nv.info` whose value follows; those below it hold it themselves."""
_BLOCK, _LOCAL, _PARAMETERS, _REGISTERS, _CLUSTER = 0x10, 0x11, 0x17, 0x2F, 0x3D
"""The attributes that tell a function's block, its local memory, each of its parameters, its registers and its cluster."""
_BYTES_SHIFT = 18
"""The bits of a parameter's last word below those that count its bytes."""

Dimensions = tuple[int, int, int]

_CUDA_MACHINE = 190
_CLASS_64, _LITTLE_ENDIAN = 2, 1
_NULL, _SYMBOLS, _NO_BITS = 0, 2, 8
_FUNCTION, _UNDEFINED = 2, 0

_BLACKWELL_ABI = 8
"""EI_ABIVERSION from which e_flags hold the SM in bits 8 to 15; before, it is in the low byte (seen in cubins of both)."""

_RESERVED_SHARED = 1024
"""Bytes that CUDA keeps of a block's shared memory from sm_90 on. There `.nv.shared.<entry>` counts them; a target's limit does not."""

_FIRST_SM_WITH_RESERVED_SHARED = 90


class ElfProblem(Exception):
    """A cubin that is no CUDA ELF; `str()` says why."""


class EntryParameter(msgspec.Struct, frozen=True):
    """A parameter of a function, as the driver copies it."""

    ordinal: int
    offset: int
    """In bytes, among the function's parameters."""
    bytes: int


class Function(msgspec.Struct, frozen=True):
    """A function that a cubin defines."""

    parameters: list[EntryParameter] | None
    """In any order, Triton's scratch pointers among them; None where the cubin does not say."""
    shared: int
    """Its static shared memory in bytes: what a launch asks for comes on top."""
    registers: int | None
    """Of a thread; None, as below, where the cubin does not say."""
    local: int | None
    """Local memory of a thread in bytes: what did not fit into registers, and arrays."""
    block: Dimensions | None = None
    """The only block, in threads, that it can be launched with."""
    cluster: Dimensions | None = None
    """The only cluster, in blocks."""


class Cubin(msgspec.Struct, frozen=True):
    """What a cubin says of itself."""

    capability: int
    """The SM that it is for, as 10 * major + minor."""
    functions: dict[str, Function]
    line_tables: bool
    """Whether it holds line tables: with them its bytes depend on where, and when, its source was written."""


class _Section(msgspec.Struct, frozen=True):
    name: str
    type: int
    size: int
    link: int
    content: bytes
    """Empty for one that only takes room on the GPU."""


def parse_cubin(data: bytes) -> Cubin:
    """What a cubin says of itself. Raises an `ElfProblem` for what is none, or is damaged."""
    if not data.startswith(b"\x7fELF"):
        raise ElfProblem("its cubin is not an ELF")
    if len(data) < _HEADER.size:
        raise _damaged()
    _, width, order, _, _, abi, _, machine, _, _, _, table, flags, _, _, _, size, count, names = _HEADER.unpack_from(data)
    if (width, order, machine) != (_CLASS_64, _LITTLE_ENDIAN, _CUDA_MACHINE):
        raise ElfProblem("its cubin is an ELF for another machine, not for CUDA")
    if size != _SECTION.size or not names < count:
        raise _damaged()
    sections = list(_sections(data, _part(data, table, count * size), names))
    # Other bits of the flags change with line info and are left out.
    capability = (flags >> 8 if abi >= _BLACKWELL_ABI else flags) & 0xFF
    by_name = {section.name: section for section in sections}
    usage = dict(_usage(by_name[".nv.info"].content)) if ".nv.info" in by_name else {}
    defined = [entry for section in sections if section.type == _SYMBOLS for entry in _defined(section, sections)]
    functions = {name: _function(name, by_name, capability, usage, symbol) for symbol, name in defined}
    return Cubin(capability, functions, ".debug_line" in by_name)


def _sections(data: bytes, headers: bytes, names: int) -> Iterator[_Section]:
    rows = list(_SECTION.iter_unpack(headers))
    contents = [b"" if kind in (_NULL, _NO_BITS) else _part(data, offset, size) for _, kind, _, _, offset, size, *_ in rows]
    for (name, kind, _, _, _, size, link, *_), content in zip(rows, contents, strict=True):
        yield _Section(_string(contents[names], name), kind, size, link, content)


def _defined(table: _Section, sections: list[_Section]) -> Iterator[tuple[int, str]]:
    """The functions that a symbol table defines: their places in it, and their names."""
    if table.link >= len(sections) or len(table.content) % _SYMBOL.size:
        raise _damaged()
    for place, (name, info, _, section, _, _) in enumerate(_SYMBOL.iter_unpack(table.content)):
        if info & 0xF == _FUNCTION and section != _UNDEFINED:
            yield place, _string(sections[table.link].content, name)


def _function(name: str, sections: dict[str, _Section], capability: int, usage: dict[tuple[int, int], int], symbol: int) -> Function:
    info, shared = sections.get(f".nv.info.{name}"), sections.get(f".nv.shared.{name}")
    reserved = _RESERVED_SHARED if capability >= _FIRST_SM_WITH_RESERVED_SHARED else 0
    records = [] if info is None else list(_records(info.content))
    return Function(
        parameters=None if info is None else list(_parameters(records)),
        shared=max(0, shared.size - reserved) if shared else 0,
        registers=usage.get((_REGISTERS, symbol)),
        local=usage.get((_LOCAL, symbol)),
        block=_dimensions(records, _BLOCK),
        cluster=_dimensions(records, _CLUSTER),
    )


def _parameters(records: Sequence[tuple[int, bytes]]) -> Iterator[EntryParameter]:
    """The parameters that the records of a function list."""
    for attribute, value in records:
        if attribute == _PARAMETERS:
            _, ordinal, offset, word = _unpack(_PARAMETER, value)
            yield EntryParameter(ordinal, offset, word >> _BYTES_SHIFT)


def _dimensions(records: Sequence[tuple[int, bytes]], wanted: int) -> Dimensions | None:
    """The three numbers of a function's attribute, the last where it has several; None where it has none."""
    found = [_unpack(_DIMENSIONS, value) for attribute, value in records if attribute == wanted]
    return (found[-1][0], found[-1][1], found[-1][2]) if found else None


def _usage(info: bytes) -> Iterator[tuple[tuple[int, int], int]]:
    """What the records of `.nv.info` count for each function: (attribute, the function's place among the symbols) -> number."""
    for attribute, value in _records(info):
        if attribute in (_REGISTERS, _LOCAL):
            symbol, number = _unpack(_COUNT, value)
            yield (attribute, symbol), number


def _unpack(form: struct.Struct, value: bytes) -> tuple[int, ...]:
    """The numbers of an attribute's value."""
    if len(value) != form.size:
        raise _damaged()
    return form.unpack(value)


def _records(info: bytes) -> Iterator[tuple[int, bytes]]:
    """The records of an `.nv.info`: a format, an attribute, and two bytes that are the value or, in the format of sized
    values, the length of the value that follows."""
    at = 0
    while at < len(info):
        if len(info) - at < _RECORD.size:
            raise _damaged()
        kind, attribute, value = _RECORD.unpack_from(info, at)
        length = value if kind == _SIZED else 0
        at += _RECORD.size
        if not 1 <= kind <= _SIZED or length > len(info) - at:
            raise _damaged()
        yield attribute, info[at : at + length]
        at += length


def _part(data: bytes, offset: int, size: int) -> bytes:
    if offset > len(data) or size > len(data) - offset:
        raise _damaged()
    return data[offset : offset + size]


def _string(strings: bytes, offset: int) -> str:
    end = strings.find(b"\0", offset)
    if end < 0:
        raise _damaged()
    # A name that is no UTF-8 is one that no entry has.
    return strings[offset:end].decode(errors="backslashreplace")


def _damaged() -> ElfProblem:
    return ElfProblem("its cubin is damaged: it is cut short, or its parts do not fit together")
