"""Whether a compiled variant is what its need asks for, and whether an engine can launch it."""

from __future__ import annotations

from build_capture.capture.records import Result, ResultParameter
from build_capture.plan.needs import Class, Constant, Need
from build_capture.sets.elf import ElfProblem, parse_cubin
from build_capture.sets.inspect import problems_of_entry
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
    if result.params != wanted:
        problems.append(f"Triton compiled for ({_show(result.params)}), the need is ({_show(wanted)})")
    if result.constants != expected_constants(need):
        problems.append(f"Triton compiled with {_constants(result.constants)}, the need has {_constants(expected_constants(need))}")
    if (result.global_scratch, result.global_align, result.profile_scratch) != (0, 1, 0):
        problems.append(
            f"it needs scratch memory ({result.global_scratch} bytes global, {result.profile_scratch} bytes profile), which engines refuse"
        )
    try:
        problems += problems_of_entry(parse_cubin(cubin), result, target)
    except ElfProblem as problem:
        problems.append(str(problem))
    return problems


def _show(parameters: list[ResultParameter]) -> str:
    return ", ".join(f"{p.name}: {p.type}{' div16' if p.div16 else ''}" for p in parameters)


def _constants(constants: dict[str, Constant]) -> str:
    return ", ".join(f"{name}={value}" for name, value in sorted(constants.items()))
