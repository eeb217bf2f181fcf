"""Whether a compiled variant is what its need asks for, and whether an engine can launch it."""

from __future__ import annotations

from build_capture.capture.records import Result, ResultParameter
from build_capture.plan.needs import Class, Constant, Need
from build_capture.sets.elf import ElfProblem, parse_cubin
from build_capture.sets.inspect import HIDDEN_PARAMETERS, problems_of_symbol
from build_capture.targets import Target


def expected_parameters(need: Need) -> list[ResultParameter]:
    """The runtime parameters of a need's variant: all but the ints that Triton folds."""
    return [ResultParameter(p.name, p.type, p.hinted) for p in need.parameters if p.class_ is not Class.ONE]


def expected_constants(need: Need) -> dict[str, Constant]:
    """The constants of a need's variant: its constexprs, and 1 for each int that Triton folds."""
    folded = {p.name: Constant("int", 1) for p in need.parameters if p.class_ is Class.ONE}
    return need.constexprs | folded


def check_result(need: Need, result: Result, cubin: bytes, target: Target) -> list[str]:
    """What is wrong with a variant, a sentence each; empty where it serves its need on `target`."""
    problems = []
    wanted = expected_parameters(need)
    if result.parameters != wanted:
        problems.append(f"Triton compiled for ({_show(result.parameters)}), the need is ({_show(wanted)})")
    if result.constants != expected_constants(need):
        problems.append(f"Triton compiled with {_constants(result.constants)}, the need has {_constants(expected_constants(need))}")
    if result.entry_parameters != len(result.parameters) + HIDDEN_PARAMETERS:
        problems.append(
            f"the entry takes {result.entry_parameters} parameters; engines pass {len(result.parameters)} and {HIDDEN_PARAMETERS} scratch pointers"
        )
    if (result.global_scratch, result.global_align, result.profile_scratch) != (0, 1, 0):
        problems.append(
            f"it needs scratch memory ({result.global_scratch} bytes global, {result.profile_scratch} bytes profile), which engines refuse"
        )
    if result.shared > target.shared_bytes_max:
        problems.append(f"it needs {result.shared} bytes of shared memory; {target.name} has {target.shared_bytes_max} a block")
    problems += check_cubin(result.name, cubin, target)
    return problems


def check_cubin(entry: str, cubin: bytes, target: Target) -> list[str]:
    """What is wrong with a cubin as a file: not an ELF for `target`, or without its entry symbol."""
    try:
        return problems_of_symbol(parse_cubin(cubin), entry, target)
    except ElfProblem as problem:
        return [str(problem)]


def _show(parameters: list[ResultParameter]) -> str:
    return ", ".join(f"{p.name}: {p.type}{' div16' if p.div16 else ''}" for p in parameters)


def _constants(constants: dict[str, Constant]) -> str:
    return ", ".join(f"{name}={value}" for name, value in sorted(constants.items()))
