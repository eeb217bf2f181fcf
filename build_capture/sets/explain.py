"""Explains what a log tells of launches without a variant: what is missing, what is there instead, which rounds ask, and what captures it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from build_capture.errors import nearest
from build_capture.pipeline.plan import Opened
from build_capture.plan.needs import Class, fp32_bits
from build_capture.sets.asking import Asking, asking
from build_capture.sets.index import Index
from build_capture.sets.launch import Argument, Launch, LaunchConstant
from build_capture.sets.limits import capture_command, recorded_limits, show_recorded
from build_capture.sets.log import Log, LoggedFailure
from build_capture.sets.log_lines import LoggedArgument, LoggedConstexpr
from build_capture.sets.model import SetKernel
from build_capture.sets.read import ReadSet
from build_capture.sets.rule import Difference, differences, keeps_pins

NEAR_MAX = 5
"""How many nearby variants are described."""


class Missing(msgspec.Struct, frozen=True):
    """An argument of which the set has other classes than the launch has, all else being equal."""

    argument: LoggedArgument
    there: list[str]
    """The classes, or types, that nearby variants are for."""


class Near(msgspec.Struct, frozen=True):
    """An entry of the function, and what it differs in from the launch."""

    hash: str
    differences: list[str]


class Answer(msgspec.Struct, frozen=True):
    """What is known of one failure."""

    failure: LoggedFailure
    missing: list[Missing]
    near: list[Near]
    """Those with the fewest differences first, one for each cubin; empty without a set."""
    near_left: int
    """How many further cubins the function has."""
    asking: Asking | None
    """None without a profile."""
    command: str
    """What captures it; empty where a capture would not help, or the set has it."""
    notes: list[str]


class Explanation(msgspec.Struct, frozen=True):
    """What a log tells."""

    lines: int
    requests: int
    """How many requests ended for want of a variant."""
    untold: int
    answers: list[Answer]


def explain(log: Log, found: ReadSet | None, opened: Opened | None, target: str = "") -> Explanation:
    """What is known of each failure in a log, with the set that the engine had and the family's profile where they are given.

    `target` is what to capture for, such as sm_121; empty where the set, or the profile, decides.
    """
    index = Index(found.captured.kernels) if found else None
    compared = [_compare(failure, index) if index and failure.kind == "missing" else [] for failure in log.failures]
    wanted = [_specialized(failure, index) if index else failure for failure in log.failures]
    parts = [_part(failure, each) for failure, each in zip(log.failures, compared, strict=True)]
    asked: Sequence[Asking | None] = asking(opened, wanted, parts) if opened else [None] * len(wanted)
    target = target or (found.captured.target if found else "")
    answers = [_answer(failure, each, found, index, one, target) for failure, each, one in zip(log.failures, compared, asked, strict=True)]
    return Explanation(log.lines, log.requests, log.untold, answers)


def _specialized(failure: LoggedFailure, index: Index) -> LoggedFailure:
    """The failure without the classes of ints that its kernel does not specialize: a round's variant serves any value of them."""
    # Of ints that are specialized, only the entries of generic code, as policy total adds them, serve any value.
    unspecialized = [{param.name for param in kernel.params if param.nospec and param.type == "i32"} for kernel in index.of_function(failure.function)]
    free = set.intersection(*unspecialized) if unspecialized else set()
    arguments = (msgspec.structs.replace(argument, class_=None) if argument.name in free else argument for argument in failure.arguments)
    return msgspec.structs.replace(failure, arguments=tuple(arguments))


def _part(failure: LoggedFailure, compared: Sequence[_Compared]) -> LoggedFailure | None:
    """The failure with what is missing alone; None where that is not the classes of some arguments."""
    missing = _missing(failure, compared)
    if not missing or not all(one.kind in ("class", "folded") for one in compared[0][1]):
        return None
    return msgspec.structs.replace(failure, arguments=tuple(each.argument for each in missing), is_cut=True)


def _answer(
    failure: LoggedFailure, compared: Sequence[_Compared], found: ReadSet | None, index: Index | None, asked: Asking | None, target: str
) -> Answer:
    near = _once([Near(kernel.hash, texts) for kernel, _, texts in compared])
    if index and failure.kind == "fallback":
        ran = (kernel for kernel in index.of_function(failure.function) if kernel.hash.startswith(failure.variant))
        near = _once([Near(kernel.hash, [_assumptions(kernel)]) for kernel in ran])
    if index and failure.kind == "ambiguous":
        near = [Near(kernel.hash, [_options(kernel)]) for kernel in _ambiguous(index.of_function(failure.function))]
    notes = list(_notes(failure, found, index, near, asked))
    command = _command(failure, near, asked, found, target)
    return Answer(failure, _missing(failure, compared), near[:NEAR_MAX], max(0, len(near) - NEAR_MAX), asked, command, notes)


def _once(near: Sequence[Near]) -> list[Near]:
    """The first of each cubin's entries: the others are its aliases, for other launches."""
    first: dict[str, Near] = {}
    for one in near:
        first.setdefault(one.hash, one)
    return list(first.values())


_Compared = tuple[SetKernel, list[Difference], list[str]]


def _compare(failure: LoggedFailure, index: Index) -> list[_Compared]:
    """Every entry of the function with what it differs in, the fewest differences first."""
    compared = []
    for kernel in index.of_function(failure.function):
        launch = completed(failure, kernel)
        # What a log cut away is no difference.
        found = [one for one in differences(kernel, launch) if not (failure.is_cut and one.kind == "param_left")]
        found += _unnamed(failure, kernel, launch)
        texts = [str(one) for one in found]
        if not keeps_pins(kernel, launch):
            texts.append(f"{_options(kernel)} there, the launch pins {_pins(failure)}")
        compared.append((kernel, found, texts))
    return sorted(compared, key=lambda one: len(one[2]))


def completed(failure: LoggedFailure, kernel: SetKernel) -> Launch:
    """The launch of a failure, where the log does not tell as this entry would have it."""
    params = {param.name: param for param in kernel.params}
    arguments = []
    for logged in failure.arguments:
        param = params.get(logged.name)
        value = logged.value
        if value is None and logged.type.startswith("*"):
            aligned = bool(param and param.div16) if logged.class_ is None else logged.class_ is Class.ALIGNED
            value = 16 if aligned else 8
        elif value is None:
            value = 1 if param is None else 16 if param.div16 else 3
        arguments.append(Argument(logged.name, logged.type, value))
    constexprs = tuple(constant for logged in failure.constexprs if (constant := _constant(logged, kernel)))
    return Launch(failure.function, tuple(arguments), constexprs, failure.num_warps, failure.num_stages)


def _constant(logged: LoggedConstexpr, kernel: SetKernel) -> LaunchConstant | None:
    """The constexpr as this entry would have it; None where it is nothing that a launch can name."""
    held, value = kernel.consts.get(logged.name), logged.number
    if value is not None and held is not None and held.f32 is not None:
        try:
            return LaunchConstant(logged.name, "f32", fp32_bits(value))
        except OverflowError:
            return None
    return LaunchConstant(logged.name, "int", value) if isinstance(value, int) else None


def _unnamed(failure: LoggedFailure, kernel: SetKernel, launch: Launch) -> Iterator[Difference]:
    """The constexprs that the launch of this entry cannot name, such as `None`, where the entry has another value."""
    named = {constexpr.name for constexpr in launch.constexprs}
    for logged in failure.constexprs:
        if logged.name in named:
            continue
        kind, _, there = kernel.constants.get(logged.name, "").partition(":")
        if not kind:
            yield Difference("constexpr_absent", logged.name)
        elif not (kind == "none" and logged.value.lower() in ("none", "null")):
            yield Difference("constexpr_value", logged.name, there, logged.value)


def _missing(failure: LoggedFailure, compared: Sequence[_Compared]) -> list[Missing]:
    """The arguments in which the nearest entries differ, with what those have."""
    fewest = min((len(texts) for _, _, texts in compared), default=0)
    there: dict[str, list[str]] = {}
    for _, found, texts in compared:
        for one in found if len(texts) == fewest else ():
            if one.kind in ("class", "folded", "type"):
                words = there.setdefault(one.name, [])
                words.append("one" if one.kind == "folded" else one.there)
    return [Missing(argument, sorted(set(there[argument.name]))) for argument in failure.arguments if argument.name in there]


def _ambiguous(entries: Sequence[SetKernel]) -> list[SetKernel]:
    """The entries of a function that another one equals in all but its launch options."""
    groups: dict[str, list[SetKernel]] = {}
    for kernel in entries:
        groups.setdefault(f"{list(map(str, kernel.params))} {kernel.constants}", []).append(kernel)
    return [kernel for group in groups.values() for kernel in group if len({(one.num_warps, one.num_stages) for one in group}) > 1]


def _options(kernel: SetKernel) -> str:
    return f"warps {kernel.num_warps}, stages {kernel.num_stages or 'not recorded'}"


def _pins(failure: LoggedFailure) -> str:
    pins = (("warps", failure.num_warps), ("stages", failure.num_stages))
    return ", ".join(f"{name} {value}" for name, value in pins if value is not None)


def _assumptions(kernel: SetKernel) -> str:
    """What code assumes of a launch: the less, the slower it may be."""
    params = [param.name for param in kernel.params if param.assumes16]
    return f"it assumes a multiple of 16 of {', '.join(params)}" if params else "it assumes nothing of its arguments"


def _notes(failure: LoggedFailure, found: ReadSet | None, index: Index | None, near: Sequence[Near], asked: Asking | None) -> Iterator[str]:
    if failure.is_last:
        yield "the log ends with lines of this launch, perhaps inside of one: what may be left out is taken to fit"
    elif failure.is_cut:
        yield "the log shows a part of this launch only; what it leaves out is taken to fit"
    if failure.is_mixed:
        yield "the lines of several failures are mixed, with nothing to tell them apart: some may be another launch's"
    if index is None:
        yield "name the engine's set with --set, to see which variants there are"
    elif not index.of_function(failure.function):
        yield f"the set has no variant of {failure.function} at all; {nearest(failure.function, index.functions)}"
    elif _serves(failure, near):
        shown = "as far as the log shows it, " if failure.is_cut else ""
        yield f"{shown}this set serves the launch, with variant {near[0].hash[:12]}: the engine ran another set, or an older one"
    elif failure.kind == "fallback" and not near:
        yield f"this set holds no variant {failure.variant}: the engine ran another set"
    elif failure.kind == "ambiguous" and not near:
        yield f"no variants of {failure.function} in this set differ in their launch options alone: the engine ran another set"
    if failure.kind == "fallback":
        yield "its numbers are right; it may be slower than the variant that is missing"
    if failure.kind == "ambiguous":
        yield "pin num_warps and num_stages where it is launched, or capture one of the variants only"
    if asked is None:
        yield "name the family's profile with --profile, to see which rounds ask for it"
    elif failure.kind == "missing" and not asked.rounds:
        yield "no round of this profile makes such a launch, nor do larger ones: the engine ran other declarations, or rounds that rounds.zig lacks"
        if asked.part:
            yield f"{asked.part} ask for what is missing, but with other classes in the rest of the launch: their variants do not serve it"
    elif failure.kind == "missing" and asked.beyond:
        yield f"the profile's limits hold no such round; parallel {asked.limits.parallel} with window rows {asked.limits.window_rows} do"
    if found and (limits := recorded_limits(found.captured)) and failure.kind == "missing":
        yield show_recorded(limits)


def _serves(failure: LoggedFailure, near: Sequence[Near]) -> bool:
    """Whether the set that was given has what the launch looked for."""
    return failure.kind == "missing" and bool(near) and not near[0].differences


def _command(failure: LoggedFailure, near: Sequence[Near], asked: Asking | None, found: ReadSet | None, target: str) -> str:
    """What captures the variant beside all that the set was captured for; empty where the set has it, and of an ambiguous
    launch, which nothing that is captured makes clear."""
    if failure.kind == "ambiguous" or _serves(failure, near):
        return ""
    known = [limits for limits in (asked and asked.limits, found and recorded_limits(found.captured)) if limits]
    policy = found.captured.policy if found else ""
    if asked is not None and not asked.rounds and failure.kind == "missing":
        # What no round is known to ask for is served by code that assumes nothing.
        policy = "total"
    return capture_command(known if asked else [], policy, target)
