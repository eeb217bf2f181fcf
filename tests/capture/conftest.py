"""A family of small kernels, made anew for each test, so that a test may edit it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from build_capture.capture.compile import Compiled, compile_needs, describe_kernels
from build_capture.plan.needs import Class, Constant, Need, Options, Parameter, Witness
from build_capture.targets import parse_target

SCALE = '''"""Two kernels that share a helper."""

import triton
import triton.language as tl

from helper import twice

LAUNCH_OPTIONS = {"_scale": {"num_warps": 1, "num_stages": 2}}


@triton.jit
def _scale(X, OUT, n, BLOCK: tl.constexpr, ROUNDED: tl.constexpr = True):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(OUT + at, twice(tl.load(X + at, mask=at < n)), mask=at < n)
'''

HELPER = '''"""What _scale calls."""

import triton


@triton.jit
def twice(x):
    return x * 2
'''

ADD = '''"""A kernel that needs no helper."""

import triton
import triton.language as tl


@triton.jit
def _add(X, OUT, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(OUT + at, tl.load(X + at, mask=at < n) + 1, mask=at < n)
'''

WITNESS = Witness(kind="decode", streams=1, rows=1, windows=[1], layout={}, grid=[1, 1, 1], values=[])


def need(function: str, n: Class, *, aligned: bool = True, warps: int = 1) -> Need:
    """A need of one of the fake kernels."""
    constexprs = {"BLOCK": Constant("int", 32)} | ({"ROUNDED": Constant("bool", True)} if function == "_scale" else {})
    x = Parameter("X", "*fp32", Class.ALIGNED if aligned else Class.UNALIGNED)
    parameters = [x, Parameter("OUT", "*fp32", Class.ALIGNED), Parameter("n", "i32", n)]
    return Need(function, parameters, constexprs, Options(warps, 2), 1, WITNESS)


@dataclass
class Family:
    """The fake kernels on disk, and a private cache to compile them in."""

    folder: Path
    cache: Path
    target: str = "sm_121"
    progress: list[tuple[int, int, str]] = field(default_factory=list)

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace `old`, which must be there once, in a module."""
        text = (self.folder / name).read_text()
        assert text.count(old) == 1
        (self.folder / name).write_text(text.replace(old, new))

    def compile(self, needs: list[Need], jobs: int = 2) -> Compiled:
        """Compile `needs`, reusing what is there."""
        target = parse_target(self.target)
        description = describe_kernels(self.folder, sorted({n.function for n in needs}), target, self.cache)
        report = lambda done, total, title: self.progress.append((done, total, title))  # noqa: E731
        return compile_needs(needs, description, self.folder, target, cache=self.cache, jobs=jobs, progress=report)


@pytest.fixture
def family(tmp_path: Path) -> Family:
    """The fake kernels in a folder whose name holds a space."""
    folder = tmp_path / "a family"
    folder.mkdir()
    for name, text in (("scale.py", SCALE), ("helper.py", HELPER), ("add.py", ADD)):
        (folder / name).write_text(text)
    return Family(folder, tmp_path / "cache")
