"""A need as the launch that asks a set for it."""

from __future__ import annotations

import struct

from build_capture.plan.needs import Constant, Need
from build_capture.sets.launch import Argument, Launch, LaunchConstant


def launch_of(need: Need) -> Launch:
    """The launch of a need's witness, with every constexpr that a launch can name; text and None none can.

    The need's options are pinned: they are what the capture asked for.
    """
    values = {value["name"]: value["value"] for value in need.witness.values}
    return Launch(
        need.function,
        tuple(Argument(parameter.name, parameter.type, _value(parameter.type, values[parameter.name])) for parameter in need.parameters),
        tuple(_constant(name, constant) for name, constant in sorted(need.constexprs.items()) if constant.kind not in ("text", "none")),
        need.options.num_warps,
        need.options.num_stages,
    )


def _value(type_name: str, text: str) -> int:
    """A witness's value as a launch holds it: a float by its fp32 bits."""
    if type_name == "fp32":
        return int.from_bytes(struct.pack("<f", float(text)), "little")
    return int(text, 0)


def _constant(name: str, constant: Constant) -> LaunchConstant:
    if constant.kind in ("f32", "f64"):
        return LaunchConstant(name, "f32", int.from_bytes(struct.pack("<f", constant.python), "little"))
    return LaunchConstant(name, "int", int(constant.value or 0))
