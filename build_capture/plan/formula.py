"""Formulas of a profile: sums, products and roundings of other parameters, of the limits and of the geometry."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

import msgspec

from build_capture.errors import nearest

Interval = tuple[int, int]
"""The least and the greatest value that something can have."""

FUNCTIONS = ("ceil", "floor", "max", "min", "pow2")
"""`ceil(a / b)` and `floor(a / b)` divide; `pow2` is the next power of two."""

LENGTH_MAX = 400
"""Characters of a formula: nobody writes more, and what nests deeper than this is not read."""


class FormulaProblem(Exception):
    """What is wrong with a formula's text, in a sentence."""


class Formula(msgspec.Struct, frozen=True):
    """A formula over whole numbers, checked: only names, numbers, `+ - * / %` and `FUNCTIONS`."""

    text: str
    names: tuple[str, ...]
    """What it refers to, in order of appearance, as written: `rows`, `plan.width`."""

    @property
    def tree(self) -> ast.expr:
        """Its syntax; formulas are written as Python writes expressions."""
        return ast.parse(self.text, mode="eval").body


def constant(value: int) -> Formula:
    """The formula that is a number."""
    return Formula(str(value), ())


def parse(text: str) -> Formula:
    """The formula that `text` writes; raises a `FormulaProblem` that says what is not understood."""
    if len(text) > LENGTH_MAX:
        raise FormulaProblem(f"a formula has {len(text)} characters; at most {LENGTH_MAX} are read")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise FormulaProblem(f"{text!r} is no formula") from error
    names: dict[str, None] = {}
    _check(tree, names, text)
    return Formula(text.strip(), tuple(names))


def _check(node: ast.expr, names: dict[str, None], text: str) -> None:
    if (name := _name(node)) is not None:
        names[name] = None
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        return
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        _check(node.operand, names, text)
    elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        _check(node.left, names, text)
        _check(node.right, names, text)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        _check_call(node, node.func.id, names, text)
    else:
        raise FormulaProblem(f"{text!r}: {ast.unparse(node)!r} is not part of a formula")


def _check_call(node: ast.Call, function: str, names: dict[str, None], text: str) -> None:
    if function not in FUNCTIONS:
        raise FormulaProblem(f"{text!r}: there is no function {function} ({nearest(function, FUNCTIONS)})")
    if len(node.args) != 1 and function in ("ceil", "floor", "pow2") or not node.args:
        raise FormulaProblem(f"{text!r}: {function} takes one value, not {len(node.args)}")
    if function in ("ceil", "floor") and not _is_division(node.args[0]):
        raise FormulaProblem(f"{text!r}: {function} rounds a division, such as {function}(n / 64)")
    for argument in node.args:
        _check(argument, names, text)


def _name(node: ast.expr) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (owner := _name(node.value)) is not None:
        return f"{owner}.{node.attr}"
    return None


def _is_division(node: ast.expr) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Div, ast.FloorDiv))


_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "floorDivide",
    ast.FloorDiv: "floorDivide",
    ast.Mod: "modulo",
}
"""Operators, and Zig's operator or the function of `coverage.domains.formula` that does the same."""


def to_zig(node: ast.expr, names: Mapping[str, str]) -> str:
    """The formula as a Zig expression of type i128; `names` says what stands for each name."""
    if (name := _name(node)) is not None:
        return names[name]
    if isinstance(node, ast.Constant):
        return f"@as(i128, {node.value})"
    if isinstance(node, ast.UnaryOp):
        return f"-({to_zig(node.operand, names)})"
    if isinstance(node, ast.Call):
        assert isinstance(node.func, ast.Name), "checked before"
        return _call_to_zig(node, node.func.id, names)
    assert isinstance(node, ast.BinOp), "checked before"
    operator = _OPERATORS[type(node.op)]
    left, right = to_zig(node.left, names), to_zig(node.right, names)
    return f"({left} {operator} {right})" if len(operator) == 1 else f"formula.{operator}({left}, {right})"


def _call_to_zig(node: ast.Call, function: str, names: Mapping[str, str]) -> str:
    if function == "pow2":
        return f"formula.powerOfTwo({to_zig(node.args[0], names)})"
    if function in ("ceil", "floor"):
        division = node.args[0]
        assert isinstance(division, ast.BinOp), "checked before"
        return f"formula.{function}Divide({to_zig(division.left, names)}, {to_zig(division.right, names)})"
    values = [to_zig(argument, names) for argument in node.args]
    return values[0] if len(values) == 1 else f"@{function}({', '.join(values)})"


def interval(node: ast.expr, names: Mapping[str, Interval]) -> Interval:
    """Bounds of the formula's values, given bounds of what it refers to; they may be wider than what is reached."""
    if (name := _name(node)) is not None:
        return names[name]
    if isinstance(node, ast.Constant):
        assert isinstance(node.value, int), "checked before"
        return node.value, node.value
    if isinstance(node, ast.UnaryOp):
        low, high = interval(node.operand, names)
        return -high, -low
    if isinstance(node, ast.Call):
        assert isinstance(node.func, ast.Name), "checked before"
        return _call_interval(node, node.func.id, names)
    assert isinstance(node, ast.BinOp), "checked before"
    left, right = interval(node.left, names), interval(node.right, names)
    if isinstance(node.op, (ast.Div, ast.FloorDiv, ast.Mod)) and right[0] <= 0:
        raise FormulaProblem("its divisor can be 0 or less")
    if isinstance(node.op, ast.Mod):
        return 0, right[1] - 1
    return _corners(_COMBINATIONS[type(node.op)], left, right)


def _call_interval(node: ast.Call, function: str, names: Mapping[str, Interval]) -> Interval:
    if function == "ceil":
        division = node.args[0]
        assert isinstance(division, ast.BinOp), "checked before"
        left, right = interval(division.left, names), interval(division.right, names)
        if right[0] <= 0:
            raise FormulaProblem("its divisor can be 0 or less")
        return _corners(lambda a, b: -(-a // b), left, right)
    parts = [interval(argument, names) for argument in node.args]
    if function == "pow2":
        low, high = ((1 << (value - 1).bit_length()) if value > 1 else 1 for value in parts[0])
        return low, high
    if function == "floor":
        return parts[0]
    choose = max if function == "max" else min
    return choose(low for low, _ in parts), choose(high for _, high in parts)


_COMBINATIONS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a // b,
    ast.FloorDiv: lambda a, b: a // b,
}


def _corners(operation: Callable[[int, int], int], left: Interval, right: Interval) -> Interval:
    values = [operation(a, b) for a in left for b in right]
    return min(values), max(values)
