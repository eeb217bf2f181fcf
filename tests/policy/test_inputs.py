"""What else decides a cubin is recorded or refused: module-level constants, constants' kinds, the assembler."""

from __future__ import annotations

from pathlib import Path

import pytest
from build_capture.capture.compile import Compiled, compile_needs, describe_kernels
from build_capture.capture.ptxas import check_ptxas
from build_capture.errors import CaptureError, Exit
from build_capture.plan.needs import Class, Constant, Need, Options, Parameter, Witness
from build_capture.sets.pack import kernel_of
from build_capture.targets import parse_target
from tests.policy.assemblers import own_ptxas, write_ptxas

TARGET = parse_target("sm_121")

CONSTANTS = '''"""What the kernels share."""

import triton.language as tl

STEP = tl.constexpr(1)
'''

READERS = '''"""One kernel reads a module-level constant, one does not, one takes constants of every kind."""

import triton
import triton.language as tl

from constants import STEP

PLAIN = 3


@triton.jit
def _steps(X, N):
    tl.store(X + N, STEP)


@triton.jit
def _alone(X, N):
    tl.store(X + N, 2)


@triton.jit
def _plain(X, N):
    tl.store(X + N, PLAIN)


@triton.jit
def _kinds(X, N, V: tl.constexpr):
    if V is None:
        tl.store(X, 7)
    else:
        tl.store(X, V)
'''


def need(function: str, **constexprs: Constant) -> Need:
    """A need of one of these kernels."""
    parameters = [Parameter("X", "*i32", Class.ALIGNED), Parameter("N", "i32", Class.ANY)]
    return Need(function, parameters, constexprs, Options(1, 1), 1, Witness("decode", 1, 1, [1], {}, [1, 1, 1], []))


@pytest.fixture(scope="module")
def readers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with these kernels, and a cache beside it."""
    folder = tmp_path_factory.mktemp("inputs") / "kernels"
    folder.mkdir()
    (folder / "constants.py").write_text(CONSTANTS)
    (folder / "readers.py").write_text(READERS)
    return folder


def compile_all(folder: Path, *needs: Need) -> Compiled:
    """Compile needs of the kernels in a folder."""
    cache = folder.parent / "cache"
    description = describe_kernels(folder, sorted({each.function for each in needs}), TARGET, cache)
    return compile_needs(needs, description, folder, TARGET, cache=cache, jobs=2, progress=lambda *_: None)


def test_r11_a_changed_module_level_constant_changes_the_cubins_that_read_it_alone(readers: Path) -> None:
    before = compile_all(readers, need("_steps"), need("_alone")).variants
    (readers / "constants.py").write_text(CONSTANTS.replace("constexpr(1)", "constexpr(5)"))
    after = compile_all(readers, need("_steps"), need("_alone")).variants
    assert [variant.result.globals for variant in before] == [{"readers.STEP": "int:1"}, {}]
    assert [variant.result.globals for variant in after] == [{"readers.STEP": "int:5"}, {}]
    assert [old.cubin == new.cubin for old, new in zip(before, after, strict=True)] == [False, True]
    assert [old.result.hash == new.result.hash for old, new in zip(before, after, strict=True)] == [False, True]


def test_r11_a_plain_global_is_refused_with_its_kernel_and_name(readers: Path) -> None:
    with pytest.raises(CaptureError, match="_plain does not compile for sm_121") as raised:
        compile_all(readers, need("_plain"))
    assert raised.value.code == Exit.KERNEL and "PLAIN" in str(raised.value) and "readers.py:" in str(raised.value)


def test_r45_constants_of_every_kind_are_compiled_and_recorded_each_on_its_own(readers: Path) -> None:
    values = [None, 3, True, 1, 0.0, -0.0, 0.1]
    constants = [Constant.of(value) for value in values] + [Constant("f32", 0x3DCCCCCD)]
    variants = compile_all(readers, *(need("_kinds", V=constant) for constant in constants if constant)).variants
    kernels = [kernel_of(variant) for variant in variants]
    shown = [kernel.constants["V"] for kernel in kernels]
    assert shown == ["none:None", "int:3", "bool:True", "int:1", "f64:0.0", "f64:-0.0", "f64:0.10000000149011612", "f32:0.10000000149011612"]
    assert len({kernel.identity for kernel in kernels}) == len(values) + 1
    # The double 0.1 and its rounding to fp32 are two compiles, though engines compare both by the same fp32 bits.
    assert len({kernel.hash for kernel in kernels}) == len(values) + 1
    assert kernels[6].consts == kernels[7].consts


def test_r12_an_assembler_that_does_not_know_the_target_is_refused_in_one_line(tmp_path: Path) -> None:
    # As the ptxas of CUDA 12.8, which Triton 3.7.1 brings for older GPUs, answers.
    older, new = own_ptxas()
    old = write_ptxas(tmp_path / "old", "Cuda compilation tools, release 12.8, V12.8.93", older, "sm_121a")
    with pytest.raises(CaptureError) as raised:
        check_ptxas(old, TARGET)
    assert raised.value.code == Exit.TOOL and len(str(raised.value).splitlines()) < 6
    assert "Value 'sm_121a' is not defined" in str(raised.value)
    assert "cannot assemble for sm_121; expected one that knows PTX 8.8 and sm_121a" in str(raised.value) and "--ptxas" in str(raised.value)
    check_ptxas(new, TARGET)
    check_ptxas(old, parse_target("sm_90"))
    with pytest.raises(CaptureError, match="this is no ptxas"):
        check_ptxas(write_ptxas(tmp_path / "liar", "hello", new), TARGET)
    with pytest.raises(CaptureError, match="cannot start"):
        check_ptxas(tmp_path / "absent", TARGET)
