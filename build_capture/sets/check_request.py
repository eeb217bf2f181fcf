"""Checks what a user names: a set against a profile, or against a declaration file alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from build_capture.capture.gpu.device import resolve_target
from build_capture.errors import CaptureError, Place
from build_capture.pipeline.plan import Request
from build_capture.read.reader import read_declarations
from build_capture.read.records import DeclaredConstexpr
from build_capture.read.records import Launch as DeclaredLaunch
from build_capture.sets.check import Checked, Finding, check_cubins, check_set
from build_capture.sets.match import Policy
from build_capture.sets.model import SetKernel
from build_capture.sets.needed import plan_for
from build_capture.sets.read import ReadSet, read_set
from build_capture.targets import Target, parse_target
from build_capture.zig import cache_of, find_reader, find_zig


def check(folder: Path, rule: Policy, declarations: Path | None, request: Request) -> Checked:
    """The check of the set in `folder`. With `declarations` the profile of the request is not looked at."""
    wanted = None if request.target is None else resolve_target(request.target)
    read = read_set(folder, wanted)
    if declarations is not None:
        return check_declarations(read, declarations, wanted or _own_target(read), rule, request)
    return check_set(read, plan_for(read, request), rule)


def _own_target(read: ReadSet) -> Target:
    if not read.captured.target:
        raise CaptureError("the set does not say for which GPU it is", where=Place(str(read.path)), mend="name it with --target")
    return parse_target(read.captured.target)


def check_declarations(read: ReadSet, file: Path, target: Target, rule: Policy, request: Request) -> Checked:
    """Whether each launch of a declaration file has an entry of its function with its arguments and constexprs.

    Which values they take a profile says; without one this is all that can be known, and it is less than coverage.
    """
    zig = find_zig(request.zig)
    cache = cache_of(file.parent, request.cache)
    declared = read_declarations(find_reader(request.reader, zig, cache), file)
    by_function: dict[str, list[SetKernel]] = {}
    for kernel in read.captured.kernels:
        by_function.setdefault(kernel.fn, []).append(kernel)
    launches = [launch for launch in declared.launches if launch.function]
    findings = []
    for launch in launches:
        if why := _misfit(launch, by_function.get(launch.function or "", ())):
            findings.append(Finding("missing", f"{launch.function} ({launch.file}:{launch.line})", why))
    served = len(launches) - len(findings)
    named = {launch.function for launch in launches}
    if all(launch.function for launch in declared.launches):
        findings += [Finding("unused", kernel.identity, "no launch of the file names its function") for kernel in read.captured.kernels if kernel.fn not in named]
    findings += check_cubins(read, target)
    return Checked(
        set=str(read.folder),
        target=target.name,
        rule=rule,
        limits=None,
        needs=len(launches),
        served=served,
        entries=len(read.captured.kernels),
        cubins=len({kernel.hash for kernel in read.captured.kernels}),
        findings=findings,
        notes=[*read.notes, "no profile was given: which values the arguments take was not looked at, nor constexprs whose value the file does not show"],
    )


def _misfit(launch: DeclaredLaunch, kernels: Sequence[SetKernel]) -> str | None:
    """Why no entry of the function can serve the launch, whatever its values; None where one can."""
    if not kernels:
        return "the set has no entry of this function"
    problems = [_problems(launch, kernel) for kernel in kernels]
    return None if any(not found for found in problems) else "; ".join(min(problems, key=len))


def _problems(launch: DeclaredLaunch, kernel: SetKernel) -> list[str]:
    params = {param.name: param for param in kernel.params}
    found = []
    arguments, constexprs = launch.arguments, launch.constexprs
    for argument in arguments or ():
        if argument.name is None:
            continue
        param = params.get(argument.name)
        if param is None and argument.name not in kernel.consts:
            found.append(f"no param {argument.name} there")
        elif param is not None and argument.type is not None and param.type != argument.type:
            found.append(f"{argument.name} is {param.type} there, {argument.type} here")
    if arguments is not None and all(argument.name for argument in arguments):
        given = {argument.name for argument in arguments}
        found += [f"{name} is a param there, not given here" for name in params if name not in given]
    return found + [problem for constexpr in constexprs or () if (problem := _problem_of_constexpr(constexpr, kernel))]


def _problem_of_constexpr(constexpr: DeclaredConstexpr, kernel: SetKernel) -> str:
    """What keeps an entry from the constexpr: its absence, or another value than the literal that the file gives; empty for nothing."""
    if constexpr.name is None:
        return ""
    if constexpr.name not in kernel.consts:
        return f"no constexpr {constexpr.name} there"
    form = kernel.consts[constexpr.name].form
    if constexpr.kind != "int" or not re.fullmatch(r"-?[0-9]+", constexpr.expression) or form == ("int", int(constexpr.expression)):
        return ""
    return f"{constexpr.name} is {form[1] if form[0] == 'int' else form[0]} there, {constexpr.expression} here"
