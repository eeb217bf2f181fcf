"""Whether what was launched is what was enumerated and compiled, and whether its numbers are right."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from build_capture.capture.compile import Variant
from build_capture.capture.gpu.records import Answer, Launched, Specialization
from build_capture.capture.records import Kernel
from build_capture.errors import CaptureError, Exit, Place, raise_all
from build_capture.plan.needs import Need

SIGNIFICANT_DIGITS = 2
"""Of a recorded error. The inputs are the same in every capture, so that an error differs between two of them at most where
the float64 reference adds in another order, a dozen digits further down: rounded, it is the same in both sets."""


class KernelLaunches(msgspec.Struct, frozen=True):
    """What came of one kernel."""

    function: str
    needs: int
    launched: int
    """Needs that were launched: all, or none where the family has no example."""
    verified: int
    """Of these, needs that have nothing wrong: right numbers, and the code that was compiled without the GPU."""
    further: int
    """Code that a policy adds for it, launched and checked too."""
    launches: int
    """How often its examples launched it."""
    output: str
    """The output that came nearest to its limit; empty where nothing was launched."""
    error: float
    """Its error, rounded."""
    limit: float


class Outcome(NamedTuple):
    """A need or further code, what its launches gave, and whether nothing is wrong with it."""

    need: Need
    launched: Launched
    good: bool


class GpuRecord(msgspec.Struct, frozen=True):
    """What a capture in mode `gpu` launched."""

    device: str
    kernels: list[KernelLaunches]
    not_launched: list[str]
    """Kernels without an example: compiled for the GPU, and not launched."""
    recorded: int
    """Distinct specializations that the hooks saw."""
    enumerated: int
    """Those that the declarations ask for, of the kernels that were launched."""
    differences: int
    """Between the two; a capture with any fails."""
    rounds: int
    """Whole rounds that the family served."""
    round_launches: int
    round_specializations: int
    """Distinct ones that the rounds launched."""
    round_kernels: list[str]
    """Kernels that the rounds launched: of these, the rounds alone launched all that is enumerated, and nothing else."""


def verify(
    variants: Sequence[Variant], further: Sequence[Variant], answer: Answer, kernels: Sequence[Kernel], folder: Path, device: str
) -> GpuRecord:
    """Check everything; raises, all at once, each wrong number and each difference (`Exit.KERNEL`).

    `variants` are what Triton runs for the needs, `further` the code that a policy puts into the set besides: launched and
    checked alike, and asked for by no declaration.
    """
    assert len(variants) + len(further) == len(answer.launched), "each need has its answer"
    places = {kernel.function: Place(str(folder / kernel.module), kernel.line) for kernel in kernels}
    problems = [list(_problems(variant, launched)) for variant, launched in zip([*variants, *further], answer.launched)]
    errors = [
        _error(f"{variant.need.function} ({variant.need.classes}): {problem}", places[variant.need.function])
        for variant, found in zip([*variants, *further], problems)
        for problem in found
    ]
    needs = [variant.need for variant in variants]
    every = [*needs, *(variant.need for variant in further)]
    launched_functions = {need.function for need, launched in zip(every, answer.launched) if launched.runs}
    errors += [
        _error(f"{need.function} ({need.classes}): the family has examples of this kernel, and none of this need", places[need.function])
        for need, launched in zip(every, answer.launched)
        if need.function in launched_functions and not launched.runs and not launched.failure
    ]
    if not launched_functions and not errors:
        errors.append(CaptureError("nothing was launched: the family has no example of any kernel", where=Place(str(folder)), mend="see docs/examples.md"))
    differences = [] if answer.failure else list(_differences(needs, answer))
    if answer.failure:
        errors.append(_error(f"serving rounds fails after {answer.rounds}: {answer.failure}", Place(str(folder))))
    errors += [_error(words, places.get(function, Place(str(folder)))) for function, words in differences]
    raise_all(errors)
    outcomes = [Outcome(need, launched, not found) for need, launched, found in zip(every, answer.launched, problems)]
    return _record(outcomes, len(needs), answer, len(differences), device)


def _error(what: str, place: Place) -> CaptureError:
    return CaptureError(what, where=place, code=Exit.KERNEL)


def _problems(variant: Variant, launched: Launched) -> Iterator[str]:
    """What is wrong with one need, a sentence each. A need without an example has nothing wrong."""
    if launched.failure:
        yield f"its example fails: {launched.failure}"
        return
    if not launched.runs:
        return
    for run in launched.runs:
        if not run.outputs:
            yield f"its example compares nothing ({run.shape})"
        for output in run.outputs:
            if not output.good:
                error = "not finite" if output.error is None else f"{output.error:.1e}"
                yield f"wrong numbers in {output.what}: error {error}, at most {output.limit:.1e} ({run.shape})"
    wanted = Specialization.of(variant.need)
    if not launched.recorded:
        yield "Triton told of no launch while its example ran"
    for recorded in launched.recorded:
        if str(recorded.specialization) != str(wanted):
            yield f"its example launched {recorded.specialization}, the need is {wanted}"
        elif (recorded.hash, recorded.cubin_sha256) != (variant.result.hash, variant.result.cubin_sha256):
            what = "hash" if recorded.hash != variant.result.hash else "bytes"
            yield f"what was launched is not what was compiled without the GPU: its cubin has another {what} ({recorded.hash[:12]}, {variant.result.hash[:12]})"


def _differences(needs: Sequence[Need], answer: Answer) -> Iterator[tuple[str, str]]:
    """(function, sentence) for each specialization that is recorded and not enumerated, or the other way round.

    Of a kernel that the rounds launch the rounds alone are compared, since its examples launch what was asked of them.
    """
    # Several needs may be one specialization; of them one that rounds ask for stands for all.
    enumerated = {str(Specialization.of(need)): need for need in sorted(needs, key=lambda need: need.launches - need.launches_of_calls)}
    from_rounds = {str(each.specialization): each for each in answer.from_rounds}
    for text, recorded in sorted(from_rounds.items()):
        if text not in enumerated:
            yield recorded.specialization.function, f"a round launched {text} {recorded.launches} times, and no declaration asks for it"
    driven = {each.specialization.function for each in answer.from_rounds}
    for text, need in sorted(enumerated.items()):
        if need.function in driven and need.launches > need.launches_of_calls and text not in from_rounds:
            yield need.function, f"none of {answer.rounds} rounds launched {text}, which the declarations ask for"


def _record(outcomes: Sequence[Outcome], needs: int, answer: Answer, differences: int, device: str) -> GpuRecord:
    """The first `needs` of the outcomes are those of needs, the others those of further code."""
    asked = [outcome.need for outcome in outcomes[:needs]]
    launched = {outcome.need.function for outcome in outcomes if outcome.launched.runs}
    examples = {str(each.specialization) for outcome in outcomes[:needs] for each in outcome.launched.recorded}
    driven = {each.specialization.function for each in answer.from_rounds}
    functions = sorted({need.function for need in asked})
    return GpuRecord(
        device=device,
        kernels=[_kernel(function, outcomes[:needs], outcomes[needs:]) for function in functions],
        not_launched=sorted(set(functions) - launched),
        recorded=len(examples | {str(each.specialization) for each in answer.from_rounds}),
        enumerated=len({str(Specialization.of(need)) for need in asked if need.function in launched | driven}),
        differences=differences,
        rounds=answer.rounds,
        round_launches=sum(each.launches for each in answer.from_rounds),
        round_specializations=len(answer.from_rounds),
        round_kernels=sorted(driven),
    )


def _kernel(function: str, needs: Sequence[Outcome], further: Sequence[Outcome]) -> KernelLaunches:
    asked = [outcome for outcome in needs if outcome.need.function == function]
    added = [outcome for outcome in further if outcome.need.function == function]
    launched = [outcome for outcome in asked if outcome.launched.runs]
    runs = [run for outcome in [*asked, *added] for run in outcome.launched.runs if not run.compact]
    worst = max((output for run in runs for output in run.outputs), key=lambda output: output.share, default=None)
    return KernelLaunches(
        function=function,
        needs=len(asked),
        launched=len(launched),
        verified=sum(outcome.good for outcome in launched),
        further=sum(bool(outcome.launched.runs) for outcome in added),
        launches=len(runs),
        output=worst.what if worst else "",
        error=rounded(worst.error or 0.0) if worst else 0.0,
        limit=worst.limit if worst else 0.0,
    )


def rounded(value: float) -> float:
    """A number to two significant digits."""
    return round(value, SIGNIFICANT_DIGITS - 1 - math.floor(math.log10(abs(value)))) if value else 0.0
