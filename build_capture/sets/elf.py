"""What a cubin, a CUDA ELF, says of itself. No byte of it is trusted: reading it ends, in facts or in an `ElfProblem`. As zig_bridge/verify/elf.zig."""

from __future__ import annotations

import struct
from collections.abc import Iterator

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
_LENGTHS = {_BLOCK: _DIMENSIONS.size, _LOCAL: _COUNT.size, _PARAMETERS: _PARAMETER.size, _REGISTERS: _COUNT.size, _CLUSTER: _DIMENSIONS.size}
"""The bytes of their values. Other attributes are passed over."""
_BYTES_SHIFT = 18
"""The bits of a parameter's last word below those that count its bytes."""
_PARAMETERS_MAX = 32764
"""CUDA gives a kernel no more bytes of parameters."""

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
    _, width, order, _, _, abi, _, machine, _, _, programs, table, flags, _, program_size, program_count, size, count, names = _HEADER.unpack_from(data)
    if (width, order, machine) != (_CLASS_64, _LITTLE_ENDIAN, _CUDA_MACHINE):
        raise ElfProblem("its cubin is an ELF for another machine, not for CUDA")
    if size != _SECTION.size or not names < count:
        raise _damaged()
    _part(data, programs, program_count * program_size)
    sections = list(_sections(data, _part(data, table, count * size), names))
    # Other bits of the flags change with line info and are left out.
    capability = (flags >> 8 if abi >= _BLACKWELL_ABI else flags) & 0xFF
    # Of several sections with one name the first is taken.
    by_name = {section.name: section for section in reversed(sections)}
    info = {section.name: _info(section.content) for section in reversed(sections) if section.name.startswith(".nv.info")}
    defined = [entry for section in sections if section.type == _SYMBOLS for entry in _defined(section, sections)]
    functions = {name: _function(name, symbol, capability, by_name, info) for symbol, name in defined}
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


class _Info(msgspec.Struct, frozen=True):
    """What an `.nv.info` says: of one function, or, without a function's name, of each by its place among the symbols."""

    parameters: list[EntryParameter]
    dimensions: dict[int, Dimensions]
    """By attribute: of the block and the cluster."""
    counts: dict[tuple[int, int], int]
    """By attribute and symbol: of registers and bytes of local memory."""


def _function(name: str, symbol: int, capability: int, sections: dict[str, _Section], info: dict[str, _Info]) -> Function:
    own, shared = info.get(f".nv.info.{name}"), sections.get(f".nv.shared.{name}")
    counts = info[".nv.info"].counts if ".nv.info" in info else {}
    reserved = _RESERVED_SHARED if capability >= _FIRST_SM_WITH_RESERVED_SHARED else 0
    return Function(
        parameters=own and own.parameters,
        shared=max(0, shared.size - reserved) if shared else 0,
        registers=counts.get((_REGISTERS, symbol)),
        local=counts.get((_LOCAL, symbol)),
        block=own and own.dimensions.get(_BLOCK),
        cluster=own and own.dimensions.get(_CLUSTER),
    )


def _info(records: bytes) -> _Info:
    """What the records of an `.nv.info` say; the last where several say the same."""
    info = _Info([], {}, {})
    for attribute, value in _records(records):
        if attribute == _PARAMETERS:
            _, ordinal, offset, word = _PARAMETER.unpack(value)
            info.parameters.append(EntryParameter(ordinal, offset, word >> _BYTES_SHIFT))
        elif attribute in (_BLOCK, _CLUSTER):
            info.dimensions[attribute] = _DIMENSIONS.unpack(value)
        else:
            symbol, number = _COUNT.unpack(value)
            info.counts[attribute, symbol] = number
    if len(info.parameters) > _PARAMETERS_MAX:
        raise _damaged()
    return info


def _records(info: bytes) -> Iterator[tuple[int, bytes]]:
    """The records of an `.nv.info` that are looked at, of all that it has: a format, an attribute, and two bytes that are the
    value or, in the format of sized values, the length of the value that follows."""
    at = 0
    while at < len(info):
        if len(info) - at < _RECORD.size:
            raise _damaged()
        kind, attribute, value = _RECORD.unpack_from(info, at)
        length = value if kind == _SIZED else 0
        at += _RECORD.size
        if not 1 <= kind <= _SIZED or length > len(info) - at or length != _LENGTHS.get(attribute, length):
            raise _damaged()
        if attribute in _LENGTHS:
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
