"""The one identity of a variant."""

from __future__ import annotations

import struct

import msgspec
import pytest

from build_capture.plan.needs import Class, Constant, Need, Options, Parameter, Witness

WITNESS = Witness("decode", 1, 1, [1], {}, [1, 1, 1], [])
NEED = Need(
    "_k",
    [Parameter("X", "*bf16", Class.ALIGNED), Parameter("n", "i32", Class.ANY)],
    {"FLAG": Constant("int", 1)},
    Options(4, 3),
    1,
    WITNESS,
)


@pytest.mark.parametrize(
    "change",
    [
        {"function": "_other"},
        {"options": Options(8, 3)},
        {"options": Options(4, 2)},
        {"constexprs": {"FLAG": Constant("bool", True)}},
        {"constexprs": {"FLAG": Constant("none", None)}},
        {"constexprs": {"FLAG": Constant("f64", struct.unpack("<Q", struct.pack("<d", 1.0))[0])}},
        {"constexprs": {}},
        {"parameters": [Parameter("X", "*bf16", Class.UNALIGNED), NEED.parameters[1]]},
        {"parameters": [Parameter("X", "*fp16", Class.ALIGNED), NEED.parameters[1]]},
        {"parameters": [NEED.parameters[0], Parameter("n", "i32", Class.DIV16)]},
        {"parameters": [NEED.parameters[0], Parameter("n", "u64", Class.ANY)]},
    ],
)
def test_identity_changes_with_each_part_of_a_specialization(change: dict[str, object]) -> None:
    assert msgspec.structs.replace(NEED, **change).identity != NEED.identity


def test_identity_leaves_the_witness_out() -> None:
    other = msgspec.structs.replace(NEED, launches=9, witness=msgspec.structs.replace(WITNESS, rows=7))
    assert other.identity == NEED.identity


def test_constant_keeps_the_kind_that_python_gave() -> None:
    kinds = [constant.kind for constant in map(Constant.of, (True, 1, 1.0, None, "ieee")) if constant]
    assert kinds == ["bool", "int", "f64", "none", "text"]
    assert Constant.of((1, 2)) is None


def test_constant_tells_zeros_of_either_sign_and_roundings_apart() -> None:
    assert Constant.of(0.0) != Constant.of(-0.0)
    assert Constant("f32", 0x3DCCCCCD).python != 0.1
    assert str(Constant.of(0.1)) == "f64:0.1"


def test_constant_refuses_what_a_set_cannot_hold() -> None:
    assert Constant.of(2**63 - 1) == Constant("int", 2**63 - 1)
    assert [Constant.of(value) for value in (2**63, -(2**63) - 1, 1e300, -1e300)] == [None] * 4
    assert Constant.of(float("inf")) is not None


def test_parameter_is_written_with_its_class() -> None:
    assert msgspec.to_builtins(NEED.parameters[1]) == {"name": "n", "type": "i32", "class": "any"}
