"""Which rounds ask for a launch that a log tells of: within the profile's limits, or beyond them where none within does."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import msgspec

from build_capture.pipeline.plan import Opened, look
from build_capture.plan.needs import Span, fp32_bits
from build_capture.plan.probe import ProbedConstexpr, ProbedNeed
from build_capture.plan.show import show_witness
from build_capture.read.profile import LIMITS_MAX, Limits
from build_capture.sets.log import LoggedFailure
from build_capture.sets.log_lines import LoggedConstexpr
from build_capture.sets.row_ranges import joined, show_rows

ROUNDS_MAX = 1 << 18
"""How many rounds are driven at the most in search of one beyond the limits."""

_STREAMS_MIN, _WINDOW_ROWS_MIN = 4, 16
"""Larger limits hold at least so much: tables lie at every multiple of 4 bytes then, and rows are of every class."""

_RANGES_SHOWN, _CALLS_SHOWN = 4, 3


class Asking(msgspec.Struct, frozen=True):
    """The rounds that ask for a launch."""

    rounds: str
    """In words: `decode rounds of 2..15, 17..31, …, 241..255 rows, from 2 streams on`; empty where none is known."""
    limits: Limits
    """That hold such rounds: the profile's, or larger ones."""
    beyond: bool
    """Whether the profile's own limits hold none."""
    part: str = ""
    """Of a launch that no round makes: the rounds that ask for what is missing, with something else in the rest of the launch."""


def asking(opened: Opened, failures: Sequence[LoggedFailure], parts: Sequence[LoggedFailure | None]) -> list[Asking]:
    """What asks for each of the failures, and for the part of each that is missing, where that is known.

    The declarations are driven once over the profile's limits, then over larger ones while some are open.
    """
    found: dict[int, Asking] = {}
    of_class: dict[int, Asking] = {}
    of_part: dict[int, str] = {}
    waiting = [opened.limits]
    for limits in waiting:
        needs = look(msgspec.structs.replace(opened, limits=limits), spans=True).probed.needs
        for index, failure in enumerate(failures):
            if index in found:
                continue
            if rounds := rounds_asking(needs, failure):
                found[index] = Asking(rounds, limits, limits != opened.limits)
            elif index not in of_class and (rounds := rounds_asking(needs, failure, with_rows=False)):
                of_class[index] = Asking(rounds, limits, limits != opened.limits)
            if index not in of_part and (part := parts[index]) and (rounds := rounds_asking(needs, part, with_rows=False)):
                of_part[index] = rounds
        left = [failure for index, failure in enumerate(failures) if index not in found and failure.kind == "missing"]
        if limits == opened.limits:
            waiting += _wider(limits, [failure for failure in left if any(need.function == failure.function for need in needs)], needs)
        if not left:
            break
    # A round of other rows that asks for the same specialization is better than none: its variant serves the launch.
    return [found.get(index) or of_class.get(index) or Asking("", opened.limits, True, of_part.get(index, "")) for index in range(len(failures))]


def rounds_asking(needs: Sequence[ProbedNeed], failure: LoggedFailure, *, with_rows: bool = True) -> str:
    """The rounds and calls that make such a launch, in words; empty where none does, or, `with_rows`, none of as many rows."""
    own = [need for need in needs if need.function == failure.function]
    asked = [need for need in own if is_asked(need, failure)]
    rows = {argument.value for argument in failure.arguments if argument.value is not None and argument.name in _row_arguments(own)}
    spans = [span for need in asked for span in need.spans]
    # The class of a value may occur in rounds far smaller than the one that failed.
    if with_rows and spans and any(not any(span.rows_first <= value <= span.rows_last for span in spans) for value in rows):
        return ""
    calls = sorted({show_witness(need.witness) for need in asked if need.witness.kind == "call"})
    return "; ".join([*show_spans(spans), *(f"a call of {call}" for call in calls[:_CALLS_SHOWN])])


def is_asked(need: ProbedNeed, failure: LoggedFailure) -> bool:
    """Whether a failed launch, as far as its log tells, can be one of this need."""
    if need.function != failure.function:
        return False
    arguments = {argument.name: argument for argument in need.arguments}
    if not failure.is_cut and set(arguments) != {argument.name for argument in failure.arguments}:
        return False
    for logged in failure.arguments:
        argument = arguments.get(logged.name)
        if argument is None or argument.type != logged.type or logged.class_ not in (None, argument.class_):
            return False
    named = {constexpr.name: constexpr for constexpr in need.constexprs}
    if not all(is_value(named[constexpr.name], constexpr) for constexpr in failure.constexprs if constexpr.name in named):
        return False
    pins = ((failure.num_warps, need.options.num_warps), (failure.num_stages, need.options.num_stages))
    # What the declarations leave open the engine may have taken from the set.
    return all(logged is None or pinned in (None, logged) for logged, pinned in pins)


def is_value(constexpr: ProbedConstexpr, logged: LoggedConstexpr) -> bool:
    """Whether a constexpr has the value that a log writes."""
    value = logged.number
    if value is None:
        return False
    try:
        return value == constexpr.whole if constexpr.f32 is None else fp32_bits(value) == constexpr.f32
    except OverflowError:
        return False


def show_spans(spans: Sequence[Span]) -> Iterator[str]:
    """Rounds in words: decode rounds by rows and streams, then prompt chunks."""
    decode = [span for span in spans if span.kind == "decode"]
    if decode:
        yield f"decode rounds of {_show_rows(decode)}, {_show_streams({span.streams for span in decode})}"
    prompt = [span for span in spans if span.kind == "prompt"]
    if prompt:
        yield f"prompt chunks of {_show_rows(prompt)}"


def _show_rows(spans: Sequence[Span]) -> str:
    return show_rows(joined((span.rows_first, span.rows_last) for span in spans), _RANGES_SHOWN)


def _show_streams(streams: set[int]) -> str:
    first, last = min(streams), max(streams)
    if last == 1:
        return "with 1 stream"
    if first == last:
        return f"with {first} streams"
    if len(streams) == last - first + 1:
        return f"from {first} stream{'' if first == 1 else 's'} on"
    shown = [str(number) for number in sorted(streams)]
    return f"with {', '.join(shown if len(shown) <= 8 else [*shown[:6], '…', shown[-1]])} streams"


def _row_arguments(needs: Sequence[ProbedNeed]) -> set[str]:
    """The ints of a function that are the round's rows, as far as every witness tells."""
    witnessed = [(need.witness.rows, {value["name"]: value["value"] for value in need.witness.values}) for need in needs if need.witness.kind != "call"]
    names = {argument.name for need in needs for argument in need.arguments if argument.type == "i32"}
    if not any(rows > 1 for rows, _ in witnessed):
        return set()
    return {name for name in names if all(values.get(name) == str(rows) for rows, values in witnessed)}


def _wider(limits: Limits, failures: Sequence[LoggedFailure], needs: Sequence[ProbedNeed]) -> list[Limits]:
    """A few larger limits, none of them for no failures: as many streams as the failed rows take, twice as many, and longer windows."""
    if not failures:
        return []
    rows = {failure.function: _row_arguments([need for need in needs if need.function == failure.function]) for failure in failures}
    values = {argument.value or 0 for failure in failures for argument in failure.arguments if argument.name in rows[failure.function]}
    streams = {math.ceil(max(values, default=0) / limits.window_rows), max(2 * limits.parallel, _STREAMS_MIN)}
    wider = [msgspec.structs.replace(limits, parallel=parallel) for parallel in sorted(streams) if parallel > limits.parallel]
    wider.append(msgspec.structs.replace(limits, window_rows=max(2 * limits.window_rows, _WINDOW_ROWS_MIN)))
    return [one for one in wider if _is_small(one)]


def _is_small(limits: Limits) -> bool:
    streams, rows = limits.parallel, limits.window_rows
    count = streams * (streams + 1) // 2 * rows + limits.prompt_rows
    return streams <= LIMITS_MAX["parallel"] and rows <= LIMITS_MAX["window_rows"] and count <= ROUNDS_MAX
