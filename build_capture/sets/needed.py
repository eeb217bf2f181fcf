"""What rounds ask of a set: the needs of a profile for the set's own target, as the launches that ask for them."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from build_capture.pipeline.plan import Planned, Request, plan
from build_capture.plan.needs import fp32_bits
from build_capture.plan.probe import ProbedNeed
from build_capture.plan.resolve import need_of
from build_capture.sets.launch import Argument, Launch, LaunchConstant
from build_capture.sets.read import ReadSet


def plan_for(read: ReadSet, request: Request, *, spans: bool = False) -> Planned:
    """The plan of what is asked for, with the set's target where none is named: what the profile would capture for plays no part."""
    return plan(msgspec.structs.replace(request, target=request.target or read.captured.target or None), spans=spans)


def launches_of(planned: Planned) -> Iterator[tuple[int, Launch]]:
    """Each distinct launch, as its call site makes it, with the place of its need.

    Two launches can ask for one need: one names a constexpr, the other leaves it to the kernel's default, and a set answers
    what is named.
    """
    kernels = {kernel.function: kernel for kernel in planned.description.kernels}
    places = {need.identity: place for place, need in enumerate(planned.needs)}
    for entry in planned.probed.needs:
        yield places[need_of(entry, kernels[entry.function]).identity], launch_of(entry)


def launch_of(entry: ProbedNeed) -> Launch:
    """The launch of the witness: the values that it passed, the constexprs that it named and the options that it pinned."""
    values = {value["name"]: value["value"] for value in entry.witness.values}
    return Launch(
        entry.function,
        tuple(Argument(argument.name, argument.type, _value(argument.type, values[argument.name])) for argument in entry.arguments),
        tuple(
            LaunchConstant(constexpr.name, "int", constexpr.whole) if constexpr.f32 is None else LaunchConstant(constexpr.name, "f32", constexpr.f32)
            for constexpr in entry.constexprs
        ),
        entry.options.num_warps,
        entry.options.num_stages,
    )


def _value(type_name: str, text: str) -> int:
    """A witness's value as a launch holds it: a float by its fp32 bits."""
    if type_name == "fp32":
        return fp32_bits(float(text))
    return int(text, 0)
