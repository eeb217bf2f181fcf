"""A family with examples, launched on a GPU that is made up (fake_gpu.py)."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from build_capture.capture.compile import Variant, describe_kernels
from build_capture.capture.gpu.launch import launch_needs
from build_capture.capture.gpu.records import Answer
from build_capture.capture.gpu.verify import GpuRecord, verify
from build_capture.capture.records import Description, Kernel
from build_capture.errors import CaptureError, Exit
from build_capture.plan.needs import Class, Need
from build_capture.read.profile import Limits
from build_capture.targets import parse_target
from tests.capture.conftest import ADD, HELPER, SCALE, Family, need

ROOT = Path(__file__).resolve().parents[2]

EXAMPLES = '''"""Examples of _add; _scale has none."""

from dataclasses import dataclass
from typing import Any

import torch

import add

COUNTS = {"one": 1, "div16": 32, "any": 30}
LAUNCHED = [("one", True), ("div16", True), ("any", False)]


@dataclass
class Example:
    grid: tuple
    arguments: dict
    check: Any


@dataclass
class Compared:
    what: str
    error: float
    limit: float


def place(values, aligned):
    room = torch.empty(len(values) + 1, dtype=torch.float32)
    placed = room[0 if aligned else 1:][:len(values)]
    return placed.copy_(values)


def make(count, aligned, device):
    assert device == "cpu"
    x, out = place(torch.arange(32.0), aligned), torch.full((32,), float("nan"))
    want = x[:count] + 1
    check = lambda: [Compared("OUT", float((out[:count] - want).norm() / want.norm()), 1e-6)]
    return Example((1,), {"X": x, "OUT": out, "n": count}, check)


def examples(need, device, compact):
    if need["function"] != "_add":
        return
    classes = {each["name"]: each["class"] for each in need["parameters"]}
    yield make(COUNTS[classes["n"]], classes["X"] == "aligned", device)


def rounds(limits, device):
    for name, aligned in LAUNCHED * limits["parallel"]:
        example = make(COUNTS[name], aligned, device)
        add._add[example.grid](**example.arguments, BLOCK=32, num_warps=1, num_stages=2)
        yield name
'''

BROKEN = EXAMPLES.replace(
    "    yield make(",
    """    if (classes["n"], classes["X"]) == ("div16", "unaligned"):
        return
    faults = {
        ("one", "aligned"): lambda: [Compared("OUT", 0.25, 1e-6), Compared("fine", 0.0, 1e-6)],
        ("one", "unaligned"): lambda: [Compared("OUT", float("nan"), 1e-6)],
        ("any", "aligned"): lambda: [],
    }
    if (classes["n"], classes["X"]) == ("any", "unaligned"):
        1 / 0
    if (classes["n"], classes["X"]) == ("div16", "aligned"):
        yield make(32, False, device)
        return
    example = make(COUNTS[classes["n"]], classes["X"] == "aligned", device)
    example.check = faults[classes["n"], classes["X"]]
    yield example
    return
    yield make(""",
).replace("        yield name\n", "        yield name\n        raise ValueError('no more')\n")
"""Every need has another fault, and the rounds end early."""

NEEDS = [need("_add", Class.ONE), need("_add", Class.DIV16), need("_add", Class.ANY, aligned=False), need("_scale", Class.ANY)]
FAULTY = [need("_add", n, aligned=aligned) for n in (Class.ONE, Class.DIV16, Class.ANY) for aligned in (True, False)]


@dataclass
class Launching:
    """A family with examples, launched on a GPU that is made up."""

    family: Family
    needs: list[Need]

    @property
    def description(self) -> Description:
        """The kernels."""
        return describe_kernels(self.family.folder, sorted({n.function for n in self.needs}), parse_target("sm_90"), self.family.cache)

    def answer(self, values: Path | None = None) -> Answer:
        """Launch everything."""
        report = lambda done, total, title: self.family.progress.append((done, total, title))  # noqa: E731
        return launch_needs(
            self.needs,
            self.description.kernels,
            self.family.folder,
            Limits(2, 1, 0),
            parse_target("sm_90"),
            cache=self.family.cache,
            values=values,
            progress=report,
            worker=(sys.executable, str(Path(__file__).with_name("fake_gpu.py")), "90"),
            device="cpu",
        )


def launching(folder: Path, examples: str, needs: list[Need]) -> Launching:
    """The family of conftest with examples."""
    kernels = folder / "a family"
    kernels.mkdir()
    for name, text in (("scale.py", SCALE), ("helper.py", HELPER), ("add.py", ADD), ("examples.py", examples)):
        (kernels / name).write_text(text)
    return Launching(Family(kernels, folder / "cache", "sm_90"), needs)


@dataclass
class Good:
    """A capture in which all is well."""

    launching: Launching
    answer: Answer
    variants: list[Variant]
    kernels: list[Kernel]
    values: Path

    def verify(self, answer: Answer | None = None) -> GpuRecord:
        """Compare."""
        return verify(self.variants, [], answer or self.answer, self.kernels, self.launching.family.folder, "a GPU")

    def refused(self, answer: Answer) -> str:
        """What is said of an answer; it is a fault of the kernels."""
        with pytest.raises(CaptureError) as raised:
            self.verify(answer)
        assert raised.value.code == Exit.KERNEL
        return str(raised.value)
