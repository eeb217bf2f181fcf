"""Checks what a user names: a set against a profile, or against a declaration file alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from build_capture.errors import CaptureError, Place
from build_capture.pipeline.plan import Request, plan
from build_capture.read.reader import read_declarations
from build_capture.read.records import Launch as DeclaredLaunch
from build_capture.sets.check import Checked, Finding, check_cubins, check_set
from build_capture.sets.match import Policy
from build_capture.sets.model import SetKernel
from build_capture.sets.read import ReadSet, read_set
from build_capture.targets import Target, parse_target
from build_capture.zig import find_reader, find_zig


def check(folder: Path, rule: Policy, declarations: Path | None, planning: Mapping[str, Any]) -> Checked:
    """The check of the set in `folder`. `planning` is what a `Request` holds; with `declarations` its profile is not looked at."""
    wanted = None if planning["target"] is None else parse_target(planning["target"])
    read = read_set(folder, wanted)
    if declarations is not None:
        return check_declarations(read, declarations, wanted or _own_target(read), rule, planning)
    # The set is checked for what it says it is for; what the profile would capture for plays no part.
    return check_set(read, plan(Request(**{**planning, "target": planning["target"] or read.captured.target or None})), rule)


def _own_target(read: ReadSet) -> Target:
    if not read.captured.target:
        raise CaptureError("the set does not say for which GPU it is", where=Place(str(read.path)), mend="name it with --target")
    return parse_target(read.captured.target)


def check_declarations(read: ReadSet, file: Path, target: Target, rule: Policy, planning: Mapping[str, Any]) -> Checked:
    """Whether each launch of a declaration file has an entry of its function with its arguments and constexprs.

    Which values they take a profile says; without one this is all that can be known, and it is less than coverage.
    """
    zig = find_zig(planning["zig"])
    cache = (planning["cache"] or file.parent / ".zig-cache" / "build-capture").resolve()
    declared = read_declarations(find_reader(planning["reader"], zig, cache), file)
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
        notes=[*read.notes, "no profile was given: which values the arguments take was not looked at"],
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
    return found + _absent([constexpr.name for constexpr in constexprs or ()], kernel)


def _absent(names: Iterable[str | None], kernel: SetKernel) -> list[str]:
    return [f"no constexpr {name} there" for name in names if name is not None and name not in kernel.consts]
