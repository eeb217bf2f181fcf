"""The rule by which one entry of a set fits a launch, and what keeps it from it, in the words of zig_bridge/set."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Literal

import msgspec

from build_capture.sets.launch import Argument, Launch, LaunchConstant
from build_capture.sets.model import SetConstant, SetKernel, SetParameter

_TEXTS = {
    "constexpr_absent": "no constexpr {name} there",
    "constexpr_value": "constexpr {name} is {there} there, {here} here",
    "argument_absent": "no param {name} there",
    "folded": "{name} is 1 (folded) there, {here} here",
    "type": "{name} is {there} there, {here} here",
    "class": "{name} is {there} there, {here} here",
    "param_left": "{name} is a param there, not given here",
}


class Difference(msgspec.Struct, frozen=True):
    """One thing in which an entry does not fit a launch."""

    kind: Literal["constexpr_absent", "constexpr_value", "argument_absent", "folded", "type", "class", "param_left"]
    name: str
    there: str = ""
    """What the entry has."""
    here: str = ""
    """What the launch has."""

    def __str__(self) -> str:
        return _TEXTS[self.kind].format(name=self.name, there=self.there, here=self.here)


def differences(kernel: SetKernel, launch: Launch) -> Iterator[Difference]:
    """All that keeps a launch of the entry's function from taking it under the exact rule, in the order of the launch."""
    for constexpr in launch.constexprs:
        held = kernel.consts.get(constexpr.name)
        if held is None:
            yield Difference("constexpr_absent", constexpr.name)
        elif held.form != (constexpr.kind, constexpr.value):
            yield Difference("constexpr_value", constexpr.name, _show_held(held), _show_constexpr(constexpr))
    params = {param.name: param for param in kernel.params}
    for argument in launch.arguments:
        param = params.get(argument.name)
        difference = _folded(kernel, argument) if param is None else _parameter(param, argument)
        if difference:
            yield difference
    given = {argument.name for argument in launch.arguments}
    for param in kernel.params:
        if param.name not in given:
            yield Difference("param_left", param.name)


def fits(kernel: SetKernel, launch: Launch) -> bool:
    """Whether the entry serves the launch under the exact rule. Launch options play no part."""
    return next(differences(kernel, launch), None) is None


def keeps_pins(kernel: SetKernel, launch: Launch) -> bool:
    """Whether the entry has the options that the launch pins. One whose stages are not recorded (0) matches any pin of them."""
    return launch.num_warps in (None, kernel.num_warps) and (kernel.num_stages == 0 or launch.num_stages in (None, kernel.num_stages))


def hints_shared(kernel: SetKernel, launch: Launch) -> int | None:
    """Of how many arguments the entry knows what the launch has: folded, or a multiple of 16. None where it assumes what the launch lacks."""
    # A class apart harms only where the entry serves multiples of 16: all else in it is right for every value.
    if any(difference.kind != "class" for difference in differences(kernel, launch)):
        return None
    params = {param.name: param for param in kernel.params}
    shared = 0
    for argument in launch.arguments:
        param = params.get(argument.name)
        if param is None:
            shared += 1
        elif param.div16 and argument.type != "fp32":
            if not argument.divisible:
                return None
            shared += 1
    return shared


def value_class(argument: Argument) -> str:
    """The class of an argument's value; empty for a float, which has none."""
    if argument.type.startswith("*"):
        return "aligned" if argument.divisible else "unaligned"
    if argument.type == "i32" and argument.value == 1:
        return "one"
    return "" if argument.type == "fp32" else "div16" if argument.divisible else "any"


def show_float(bits: int) -> str:
    """The value of fp32 bits, with the fewest digits that tell it apart, as Zig writes it: `6.4e1`."""
    (value,) = struct.unpack("<f", struct.pack("<I", bits))
    if value != value or value in (float("inf"), float("-inf")):
        return "nan" if value != value else "inf" if value > 0 else "-inf"
    texts = (f"{value:.{digits}e}" for digits in range(9))
    text = next(text for text in texts if struct.pack("<f", float(text)) == struct.pack("<f", value))
    mantissa, exponent = text.split("e")
    return f"{mantissa}e{int(exponent)}"


def _folded(kernel: SetKernel, argument: Argument) -> Difference | None:
    """What keeps an entry without a parameter from an argument of that name: it must have folded an i32, and that one is 1."""
    held = kernel.consts.get(argument.name)
    if held is None or argument.type != "i32" or held.whole != 1:
        return Difference("argument_absent", argument.name)
    return None if argument.value == 1 else Difference("folded", argument.name, "1", _show_value(argument))


def _parameter(param: SetParameter, argument: Argument) -> Difference | None:
    if param.type != argument.type:
        return Difference("type", argument.name, param.type, argument.type)
    if param.type == "fp32":
        return None
    if param.type == "i32":
        good = not param.div16 if param.nospec else argument.value != 1 and param.div16 == argument.divisible
    else:
        good = param.div16 == argument.divisible
    return None if good else Difference("class", argument.name, _show_param(param), _show_value(argument))


def _show_held(constant: SetConstant) -> str:
    kind, value = constant.form
    if kind == "none":
        return "None"
    return str(value) if kind == "int" else show_float(value)


def _show_constexpr(constexpr: LaunchConstant) -> str:
    return str(constexpr.value) if constexpr.kind == "int" else show_float(constexpr.value)


def _show_value(argument: Argument) -> str:
    if argument.type == "fp32":
        return show_float(argument.value)
    return value_class(argument) if argument.type.startswith("*") else f"{argument.value} ({value_class(argument)})"


def _show_param(param: SetParameter) -> str:
    if param.is_pointer:
        return "aligned" if param.div16 else "unaligned"
    if param.div16:
        return "div16 though not specialized" if param.nospec else "div16"
    return "not specialized" if param.nospec else "any"
