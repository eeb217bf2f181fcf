"""What a cubin, a CUDA ELF, says of itself."""

from __future__ import annotations

import io

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

_BLACKWELL_ABI = 8
"""EI_ABIVERSION from which e_flags hold the SM in bits 8 to 15; before, it is in the low byte (seen in cubins of both)."""


class ElfProblem(Exception):
    """A cubin that is no CUDA ELF; `str()` says why."""


def _open(cubin: bytes) -> ELFFile:
    try:
        elf = ELFFile(io.BytesIO(cubin))
    except ELFError as error:
        raise ElfProblem(f"its cubin is not an ELF: {error}") from error
    if elf.header["e_machine"] != "EM_CUDA":
        raise ElfProblem(f"its cubin is an ELF for {elf.header['e_machine']}, not for CUDA")
    return elf


def sm_of_cubin(cubin: bytes) -> int:
    """The SM that a cubin is for, as 10 * major + minor. Other bits of the flags change with line info and are left out."""
    header = _open(cubin).header
    shift = 8 if header["e_ident"]["EI_ABIVERSION"] >= _BLACKWELL_ABI else 0
    return int(header["e_flags"] >> shift & 0xFF)


def symbols_of_cubin(cubin: bytes) -> set[str]:
    """The names of the functions that a cubin defines."""
    try:
        tables = [section for section in _open(cubin).iter_sections() if isinstance(section, SymbolTableSection)]
        return {symbol.name for table in tables for symbol in table.iter_symbols() if symbol["st_info"]["type"] == "STT_FUNC"}
    except (ELFError, UnicodeDecodeError) as error:
        raise ElfProblem(f"its cubin is damaged: {error}") from error


def has_line_tables(cubin: bytes) -> bool:
    """Whether a cubin holds line tables: with them its bytes depend on where, and when, its source was written."""
    try:
        return _open(cubin).get_section_by_name(".debug_line") is not None
    except (ELFError, UnicodeDecodeError) as error:
        raise ElfProblem(f"its cubin is damaged: {error}") from error
