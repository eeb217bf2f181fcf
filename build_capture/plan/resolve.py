"""Joins what the probe saw with what the kernels say: probed launches become needs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from build_capture.capture.records import Kernel
from build_capture.errors import CaptureError, Place, nearest, raise_all
from build_capture.plan.needs import Class, Constant, Need, Options, Parameter
from build_capture.plan.probe import Probed, ProbedConstexpr, ProbedNeed
from build_capture.pointees import POINTEES
from build_capture.read.profile import Profile
from build_capture.read.records import Declarations

DEFAULT_NUM_WARPS = 4
"""Triton's own default, for a kernel whose module has no LAUNCH_OPTIONS."""

DEFAULT_NUM_STAGES = 3
"""Triton's own default, for a kernel whose module has no LAUNCH_OPTIONS."""


def resolve(probed: Probed, kernels: Iterable[Kernel], profile: Profile, declarations: Declarations) -> list[Need]:
    """The needs, sorted by identity; raises, all at once, whatever in a launch does not fit its kernel's signature."""
    by_name = {kernel.function: kernel for kernel in kernels}
    errors: dict[str, CaptureError] = {}
    needs: dict[str, Need] = {}
    for entry in probed.needs:
        place = _place(entry.function, profile, declarations)
        kernel = by_name.get(entry.function)
        problems = [f"no kernel {entry.function} in {_shown(profile)}"] if kernel is None else _misfits(entry, kernel)
        for problem in problems:
            mend = "add it as a top-level @triton.jit function" if kernel is None else "make the launch and the kernel agree"
            errors[problem] = CaptureError(problem, where=place, mend=mend)
        if kernel is None or problems:
            continue
        need = need_of(entry, kernel)
        # Two launches may differ only in a constexpr that one leaves to the kernel's default.
        known = needs.get(need.identity)
        needs[need.identity] = need if known is None else _joined(known, need)
    raise_all(list(errors.values()))
    return [needs[identity] for identity in sorted(needs)]


def refuse_floods(probed: Probed, profile: Profile, declarations: Declarations) -> None:
    """Raise a `CaptureError` for each constexpr that takes more values than the profile allows: it follows a runtime size."""
    values: dict[tuple[str, str], set[tuple[int | None, int | None]]] = {}
    for entry in probed.needs:
        for constexpr in entry.constexprs:
            values.setdefault((entry.function, constexpr.name), set()).add((constexpr.whole, constexpr.f32))
    most = profile.constexpr_values_max
    raise_all(
        [
            CaptureError(
                f"constexpr {name} of {function} takes {len(found)} values, and each is a compile of its own; at most {most} are allowed",
                where=_place(function, profile, declarations),
                mend=f"make {name} an argument or a bucket of sizes, narrow what it follows, or add .constexpr_values_max = {len(found)}",
            )
            for (function, name), found in values.items()
            if len(found) > most
        ]
    )


def _joined(first: Need, second: Need) -> Need:
    launches, of_calls = first.launches + second.launches, first.launches_of_calls + second.launches_of_calls
    return msgspec.structs.replace(first, launches=launches, launches_of_calls=of_calls, spans=[*first.spans, *second.spans])


def _shown(profile: Profile) -> str:
    return Path(profile.kernels).name


def _place(function: str, profile: Profile, declarations: Declarations) -> Place:
    for launch in declarations.launches:
        if launch.function == function:
            return Place(str(profile.declarations.parent / launch.file), launch.line, launch.column)
    return Place(str(profile.declarations))


def _misfits(entry: ProbedNeed, kernel: Kernel) -> list[str]:
    """Whatever keeps a launch from fitting the kernel's signature, a sentence each."""
    runtime = [p.name for p in kernel.parameters if not p.constexpr]
    constexprs = {p.name: p for p in kernel.parameters if p.constexpr}
    given = [argument.name for argument in entry.arguments]
    named = [constexpr.name for constexpr in entry.constexprs]
    where = f"{kernel.function} ({kernel.module}:{kernel.line})"
    problems = [f"the launch gives {name} twice to {where}" for name in {*given, *named} if (given + named).count(name) > 1]
    problems += _unfit_parameters(kernel, where)
    if 0 in (entry.options.num_warps, entry.options.num_stages):
        problems.append(f"the launch of {kernel.function} pins its warps or stages to 0; null leaves them to the kernel")
    problems += [
        f"the launch passes {argument.name} as {argument.type}, which is no pointer that Triton knows ({nearest(argument.type[1:], POINTEES)})"
        for argument in entry.arguments
        if argument.kind == "ptr" and argument.type[1:] not in POINTEES
    ]
    for name in given:
        if name in constexprs:
            problems.append(f"the launch passes {name} as an argument; in {where} it is a constexpr")
        elif name not in runtime:
            problems.append(f"the launch passes {name}, which {where} does not take ({nearest(name, runtime)})")
    for name in named:
        if name in runtime:
            problems.append(f"the launch names {name} as a constexpr; in {where} it is an argument")
        elif name not in constexprs:
            problems.append(f"the launch names constexpr {name}, which {where} does not have ({nearest(name, constexprs)})")
    problems += [f"the launch lacks argument {name} of {where}" for name in runtime if name not in given + named]
    typed = {p.name: p.typed for p in kernel.parameters if p.typed and not p.typed.startswith("*")}
    problems += [
        f"the launch passes {argument.name} as {argument.type}; its annotation in {where} makes it {typed[argument.name]}, which no such launch can take"
        for argument in entry.arguments
        if typed.get(argument.name, argument.type) != argument.type
    ]
    for name, parameter in constexprs.items():
        if name not in named + given and not parameter.has_default:
            problems.append(f"the launch lacks constexpr {name} of {where}")
        elif name not in named and parameter.has_default and parameter.default is None:
            problems.append(f"the default of constexpr {name} of {where} is of a kind that a set cannot hold: name it in the launch")
    return problems


COMPOUND = ("tuple", "descriptor")
"""What the annotation of a parameter holds that no launch can pass: its arguments are pointers and numbers."""


def _unfit_parameters(kernel: Kernel, where: str) -> Iterable[str]:
    """What the kernel itself declares in a way that no set can serve."""
    for parameter in kernel.parameters:
        if parameter.constexpr and parameter.unspecialized:
            yield f"{parameter.name} of {where} is a constexpr and in do_not_specialize, which Triton ignores: each of its values is a variant"
        if any(word in parameter.annotation.lower() for word in COMPOUND):
            yield f"{parameter.name} of {where} is a {parameter.annotation}: a launch passes pointers and numbers alone"


def need_of(entry: ProbedNeed, kernel: Kernel) -> Need:
    """The need that a launch which fits its kernel asks for: with the kernel's defaults, and its own options."""
    arguments = {argument.name: argument for argument in entry.arguments}
    named = {constexpr.name: _constant(constexpr) for constexpr in entry.constexprs}
    parameters = []
    constexprs: dict[str, Constant] = {}
    for parameter in kernel.parameters:
        if parameter.constexpr:
            constant = named.get(parameter.name, parameter.default)
            assert constant is not None, "misfits are refused before"
            constexprs[parameter.name] = constant
        else:
            argument = arguments[parameter.name]
            parameters.append(Parameter(parameter.name, argument.type, Class(argument.class_) if argument.class_ else None))
    pinned, declared = entry.options, kernel.launch_options
    options = Options(
        num_warps=declared.get("num_warps", DEFAULT_NUM_WARPS) if pinned.num_warps is None else pinned.num_warps,
        num_stages=declared.get("num_stages", DEFAULT_NUM_STAGES) if pinned.num_stages is None else pinned.num_stages,
    )
    return Need(entry.function, parameters, constexprs, options, entry.launches, entry.witness, entry.launches_of_calls, entry.spans)


def _constant(constexpr: ProbedConstexpr) -> Constant:
    return Constant("int", constexpr.whole) if constexpr.f32 is None else Constant("f32", constexpr.f32)
