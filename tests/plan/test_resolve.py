"""Joining probed launches with the kernels' signatures."""

from __future__ import annotations

from pathlib import Path

import pytest

from build_capture.capture.records import Kernel, KernelParameter
from build_capture.errors import CaptureError
from build_capture.plan.needs import Class, Constant, Options, Witness
from build_capture.plan.probe import Probed, ProbedArgument, ProbedConstexpr, ProbedNeed, ProbedOptions
from build_capture.plan.resolve import resolve
from build_capture.read.profile import Limits, Profile
from build_capture.read.records import Declarations, Launch

FOLDER = Path("engine")
PROFILE = Profile(
    path=FOLDER / "capture.zon",
    family="fake",
    declarations=FOLDER / "triton.zig",
    rounds=FOLDER / "rounds.zig",
    kernels=FOLDER / "kernels",
    target="sm_121",
    limits=Limits(parallel=1, window_rows=1, prompt_rows=0),
)
LAUNCH = Launch("_add", "add", "Tri", "triton.zig", 12, 5, None, None, None, None)
DECLARATIONS = Declarations(files=["triton.zig"], methods=[], launches=[LAUNCH])
KERNEL = Kernel(
    function="_add",
    module="add.py",
    line=7,
    parameters=[
        KernelParameter("X", constexpr=False, has_default=False),
        KernelParameter("n", constexpr=False, has_default=False),
        KernelParameter("BLOCK", constexpr=True, has_default=False),
        KernelParameter("MASK", constexpr=True, has_default=True, default=Constant("none", None)),
    ],
    launch_options={"num_warps": 8},
)
WITNESS = Witness("decode", 1, 1, [1], {}, [1, 1, 1], [])
X = ProbedArgument("X", "ptr", "*bf16", "aligned")
N = ProbedArgument("n", "i32", "i32", "any")
BLOCK = ProbedConstexpr("BLOCK", whole=64)


def probed(arguments: list[ProbedArgument], constexprs: list[ProbedConstexpr], warps: int | None = None) -> ProbedNeed:
    """One probed launch of the fake kernel."""
    return ProbedNeed("_add", arguments, constexprs, ProbedOptions(warps, None), 3, WITNESS)


def check_refused(entry: ProbedNeed, want: str) -> None:
    """The launch is refused with its place and `want`."""
    with pytest.raises(CaptureError) as raised:
        resolve(Probed(1, 1, [entry]), [KERNEL], PROFILE, DECLARATIONS)
    assert "engine/triton.zig:12:5: error: " in str(raised.value)
    assert want in str(raised.value)


def test_resolve_orders_by_the_kernel_and_fills_in_its_defaults() -> None:
    (need,) = resolve(Probed(1, 1, [probed([N, X], [BLOCK])]), [KERNEL], PROFILE, DECLARATIONS)
    assert [(p.name, p.class_) for p in need.parameters] == [("X", Class.ALIGNED), ("n", Class.ANY)]
    assert need.constexprs == {"BLOCK": Constant("int", 64), "MASK": Constant("none", None)}
    assert need.options == Options(num_warps=8, num_stages=3)


def test_resolve_lets_a_launch_pin_its_options() -> None:
    (need,) = resolve(Probed(1, 1, [probed([X, N], [BLOCK], warps=2)]), [KERNEL], PROFILE, DECLARATIONS)
    assert need.options == Options(num_warps=2, num_stages=3)


def test_resolve_keeps_two_pins_of_one_launch_apart() -> None:
    entries = [probed([X, N], [BLOCK], warps=2), probed([X, N], [BLOCK], warps=8), probed([X, N], [BLOCK])]
    needs = resolve(Probed(1, 3, entries), [KERNEL], PROFILE, DECLARATIONS)
    # No pin means the kernel's own eight warps: the same variant as the launch that pins eight.
    assert [(need.options.num_warps, need.launches) for need in needs] == [(2, 3), (8, 6)]


def test_resolve_refuses_an_unknown_argument_and_names_the_nearest() -> None:
    check_refused(probed([X, N, ProbedArgument("nn", "i32", "i32", "any")], [BLOCK]), "did you mean n?")


def test_resolve_refuses_a_missing_argument() -> None:
    check_refused(probed([X], [BLOCK]), "the launch lacks argument n of _add (add.py:7)")


def test_resolve_refuses_a_missing_constexpr() -> None:
    check_refused(probed([X, N], []), "the launch lacks constexpr BLOCK")


def test_resolve_refuses_an_unknown_constexpr() -> None:
    check_refused(probed([X, N], [BLOCK, ProbedConstexpr("BLOK", whole=1)]), "did you mean BLOCK?")


def test_resolve_refuses_a_constexpr_that_is_passed_as_an_argument() -> None:
    check_refused(probed([X, N, ProbedArgument("BLOCK", "i32", "i32", "div16")], []), "in _add (add.py:7) it is a constexpr")


def test_resolve_refuses_an_argument_that_is_named_as_a_constexpr() -> None:
    check_refused(probed([X], [BLOCK, ProbedConstexpr("n", whole=1)]), "in _add (add.py:7) it is an argument")


def test_resolve_refuses_a_name_given_twice() -> None:
    check_refused(probed([X, N, N], [BLOCK]), "the launch gives n twice")


def test_resolve_refuses_a_pin_of_zero() -> None:
    check_refused(probed([X, N], [BLOCK], warps=0), "pins its warps or stages to 0")


def test_resolve_names_a_kernel_that_is_not_there() -> None:
    with pytest.raises(CaptureError, match="triton.zig:12:5: error: no kernel _add in kernels"):
        resolve(Probed(1, 1, [probed([X, N], [BLOCK])]), [], PROFILE, DECLARATIONS)
