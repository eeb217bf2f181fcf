"""A set says enough for its kernels to be compiled again: from `aot.json` alone, signature, hints and options give the same cubins."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from build_capture.capture.compile import Variant
from build_capture.plan.needs import Class, Constant, Need, Options, Parameter
from build_capture.process import closed_environment
from build_capture.sets.model import SetKernel
from build_capture.sets.pack import pack
from build_capture.sets.read import read_set
from build_capture.targets import parse_target
from tests.capture.conftest import WITNESS, Family, family

__all__ = ["family"]

TARGET = parse_target("sm_121")
POINTERS = [f"P{place}" for place in (0, *range(2, 10), 13)]
INTS = ["N1", "N10", "N11", "N12"]
PARAMETERS = sorted(POINTERS + INTS, key=lambda name: int(name[1:]))

LOADS = "\n".join(f"    x += tl.load({name} + at, mask=at < N1)" for name in POINTERS[1:])

WIDE = f'''"""A kernel of fourteen parameters, ints among the last."""

import triton
import triton.language as tl

LAUNCH_OPTIONS = {{"_wide": {{"num_warps": 2, "num_stages": 3}}}}


@triton.jit
def _wide({", ".join(PARAMETERS)}, BLOCK: tl.constexpr, SCALE: tl.constexpr = 0.5, MASK: tl.constexpr = None, FLAG: tl.constexpr = True):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.zeros([BLOCK], tl.float32) + SCALE
{LOADS}
    tl.store(P0 + at, x * N10 + N11 * N12, mask=at < N1)
'''

RECOMPILE = '''"""Compiles what stdin describes, and prints the SHA-256 of each cubin."""

import hashlib
import importlib.util
import json
import sys

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

module = importlib.util.spec_from_file_location("wide", sys.argv[1])
wide = importlib.util.module_from_spec(module)
module.loader.exec_module(wide)
names = wide._wide.arg_names
digests = []
for entry in json.load(sys.stdin):
    constants = {(names.index(name),): value for name, value in entry["constants"].items()}
    signature = {name: entry["signature"].get(name, "constexpr") for name in names}
    attributes = {(names.index(name),): [["tt.divisibility", 16]] for name in entry["hints"]}
    source = ASTSource(wide._wide, signature, constexprs=constants, attrs=attributes)
    compiled = triton.compile(source, target=GPUTarget("cuda", 121, 32), options=entry["options"] | {"enable_fp_fusion": True})
    digests.append(hashlib.sha256(compiled.asm["cubin"]).hexdigest())
print(json.dumps(digests))
'''


def need(ints: list[Class], *, unaligned: str) -> Need:
    """A need of `_wide`: a class for each of its ints, and one pointer that is not aligned."""
    classes = dict(zip(INTS, ints, strict=True)) | {name: Class.UNALIGNED if name == unaligned else Class.ALIGNED for name in POINTERS}
    parameters = [Parameter(name, "i32" if name in INTS else "*fp32", classes[name]) for name in PARAMETERS]
    constexprs = {"BLOCK": Constant("int", 256), "SCALE": Constant.of(0.5), "MASK": Constant.of(None), "FLAG": Constant.of(True)}
    return Need("_wide", parameters, constexprs, Options(2, 3), 1, WITNESS)


@pytest.fixture
def variants(family: Family) -> list[Variant]:
    (family.folder / "wide.py").write_text(WIDE)
    one, two, sixteen = Class.ONE, Class.ANY, Class.DIV16
    needs = [need([two, one, sixteen, two], unaligned="P13"), need([sixteen, two, one, one], unaligned="P2")]
    return family.compile(needs).variants


def rebuild(kernel: SetKernel) -> dict[str, Any]:
    """What Triton compiles from, as an entry says it."""
    constants = {name: bool(value.whole) if kernel.kinds.get(name) == "bool" else value.python for name, value in kernel.consts.items()}
    return {
        "signature": {param.name: param.type for param in kernel.params},
        "hints": [param.name for param in kernel.params if param.assumes16],
        "constants": constants | kernel.texts,
        "options": kernel.requested,
    }


def test_r08_a_set_says_enough_to_compile_its_kernels_again(variants: list[Variant], family: Family, tmp_path: Path) -> None:
    pack(variants, TARGET, {}, tmp_path / "set")
    read = read_set(tmp_path / "set")
    assert not read.foreign and not read.notes
    entries = {kernel.hash: kernel for kernel in read.captured.kernels}
    for variant in variants:
        kernel, result = entries[variant.result.hash], variant.result
        assert [(p.name, p.type, p.assumes16) for p in kernel.params] == [(p.name, p.type, p.div16) for p in result.params]
        folded = [p.name for p in variant.need.parameters if p.class_ is Class.ONE]
        assert rebuild(kernel)["constants"] == {name: value.python for name, value in result.constants.items()}
        assert folded == [name for name in PARAMETERS if name in kernel.consts]
        assert read.read_cubin(kernel) == variant.cubin
    (tmp_path / "recompile.py").write_text(RECOMPILE)
    asked = [rebuild(kernel) for kernel in read.captured.kernels]
    # Without hints it is other code where N1 has one: the comparison would tell nothing of hints otherwise.
    asked += [each | {"hints": []} for each in asked if "N1" in each["hints"]]
    environment = closed_environment(tmp_path / "home", TRITON_DISABLE_LINE_INFO="1")
    command = [sys.executable, str(tmp_path / "recompile.py"), str(family.folder / "wide.py")]
    answer = subprocess.run(command, input=json.dumps(asked), text=True, capture_output=True, env=environment)
    assert answer.returncode == 0, answer.stderr
    *digests, other = json.loads(answer.stdout)
    assert digests == [kernel.sha256 for kernel in read.captured.kernels]
    assert other not in digests
