"""What is wrong with a cubin for the entries of a set that name it, in the words of zig_bridge/verify/cubin.zig."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from build_capture.files import sha256_of_bytes
from build_capture.sets.elf import Cubin, ElfProblem, parse_cubin
from build_capture.sets.model import SetKernel
from build_capture.targets import Target

HIDDEN_PARAMETERS = 2
"""Triton's global and profile scratch pointers, which every entry takes after its runtime parameters. A set's reader refuses scratch itself."""


def inspect(data: bytes, kernels: Sequence[SetKernel], target: Target) -> list[str]:
    """What is wrong with one cubin for any of the entries that name it, a sentence each, without repeats."""
    for kernel in kernels:
        # Bytes that are not those recorded tell nothing of what was captured.
        if kernel.sha256 and kernel.sha256 != sha256_of_bytes(data):
            return [f"its bytes are not those that aot.json records for {kernel.fn}"]
    try:
        cubin = parse_cubin(data)
    except ElfProblem as problem:
        return [str(problem)]
    return list(dict.fromkeys(problem for kernel in kernels for problem in problems_of_entry(cubin, kernel, target)))


def problems_of_entry(cubin: Cubin, kernel: SetKernel, target: Target) -> Iterator[str]:
    """What is wrong with a cubin for one entry, a sentence each."""
    symbol_problems = problems_of_symbol(cubin, kernel.name, target)
    yield from symbol_problems
    if symbol_problems:
        return
    function = cubin.functions[kernel.name]
    if function.parameters is None:
        yield f"its cubin does not say how many parameters {kernel.name} takes"
    elif function.parameters != len(kernel.params) + HIDDEN_PARAMETERS:
        yield (f"the entry {kernel.name} takes {function.parameters} parameters; engines pass {len(kernel.params)} and {HIDDEN_PARAMETERS} scratch pointers")
    if (needed := kernel.shared + function.shared) > target.shared_bytes_max:
        yield f"{kernel.fn} needs {needed} bytes of shared memory; {target.name} has {target.shared_bytes_max} a block"


def problems_of_symbol(cubin: Cubin, symbol: str, target: Target) -> list[str]:
    """Whether a cubin is for the target, and defines the function."""
    if cubin.capability != target.capability:
        return [f"its cubin is for sm_{cubin.capability}, not {target.name}"]
    return [] if symbol in cubin.functions else [f"its cubin has no entry {symbol}"]
