"""Formulas of a profile: what is read, what it becomes in Zig, and the bounds that are told for it."""

from __future__ import annotations

import itertools

import pytest

from build_capture.plan import formula
from build_capture.plan.formula import Formula, FormulaProblem

NAMES = {"n": "value_0", "plan.width": "value_1", "parallel": "@as(i128, driver.limits.parallel)"}


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("ceil(n/64)", "formula.ceilDivide(value_0, @as(i128, 64))"),
        ("floor(n / 64)", "formula.floorDivide(value_0, @as(i128, 64))"),
        ("n // 2 + n % 3", "(formula.floorDivide(value_0, @as(i128, 2)) + formula.modulo(value_0, @as(i128, 3)))"),
        ("plan.width * -1", "(value_1 * -(@as(i128, 1)))"),
        ("max(n, parallel, 3)", "@max(value_0, @as(i128, driver.limits.parallel), @as(i128, 3))"),
        ("max(n)", "value_0"),
        ("pow2(n) - (n - 1)", "(formula.powerOfTwo(value_0) - (value_0 - @as(i128, 1)))"),
    ],
)
def test_formula_becomes_zig(text: str, want: str) -> None:
    assert formula.to_zig(formula.parse(text).tree, NAMES) == want


def test_formula_lists_its_names_once() -> None:
    assert formula.parse("plan.width * n + n").names == ("plan.width", "n")


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("", "is no formula"),
        ("n +", "is no formula"),
        ("n ** 2", "is not part of a formula"),
        ("n if n else 1", "is not part of a formula"),
        ("1.5 * n", "'1.5' is not part of a formula"),
        ("True", "is not part of a formula"),
        ("ceill(n / 2)", "there is no function ceill (did you mean ceil"),
        ("ceil(n)", "ceil rounds a division"),
        ("pow2(n, n)", "pow2 takes one value, not 2"),
        ("max()", "max takes one value, not 0"),
        ("__import__('os')", "there is no function __import__"),
        ("n" * 401, "at most 400 are read"),
        ("(" * 300 + ")" * 99, "is no formula"),
    ],
)
def test_wrong_formula_is_told(text: str, want: str) -> None:
    with pytest.raises(FormulaProblem) as raised:
        formula.parse(text)
    assert want in str(raised.value)


RANGES = {"a": (-5, 7), "b": (1, 4)}


ARITHMETIC = ("a + b", "a - b", "a * b", "a / b", "a % b", "-a", "a * a - b")
CALLS = ("ceil(a / b)", "floor(a / b)", "min(a, b)", "max(a, b, 3)", "pow2(a)")


@pytest.mark.parametrize("text", ARITHMETIC + CALLS)
def test_bounds_hold_for_every_value(text: str) -> None:
    parsed = formula.parse(text)
    low, high = formula.interval(parsed.tree, RANGES)
    values = [value_of(parsed, a, b) for a, b in itertools.product(range(-5, 8), range(1, 5))]
    assert low <= min(values) and max(values) <= high
    if text != "a * a - b":
        # Each name comes once, so that the bounds are reached; only a remainder's are wider.
        assert "%" in text or (low, high) == (min(values), max(values))


def value_of(parsed: Formula, a: int, b: int) -> int:
    """What a formula is for two numbers, by Python's own arithmetic."""
    functions = {
        "ceil": lambda value: value,
        "floor": lambda value: value,
        "pow2": lambda value: 1 if value <= 1 else 1 << (value - 1).bit_length(),
        "min": min,
        "max": max,
    }
    text = parsed.text.replace("ceil(a / b)", "-(-a // b)").replace("a / b", "a // b")
    return int(eval(text, {"__builtins__": {}}, functions | {"a": a, "b": b}))  # noqa: S307  (the text is this test's own)


@pytest.mark.parametrize("text", ["1 / a", "ceil(1 / (b - 1))", "1 % a"])
def test_divisor_that_can_be_zero_is_told(text: str) -> None:
    with pytest.raises(FormulaProblem, match="its divisor can be 0 or less"):
        formula.interval(formula.parse(text).tree, RANGES)
