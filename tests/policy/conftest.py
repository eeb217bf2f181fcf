"""The small kernels compiled once for a session, and sets made of them under each policy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from build_capture.capture.compile import Compiled, compile_needs, describe_kernels
from build_capture.capture.policy.apply import Applied, apply_policy
from build_capture.capture.records import Description
from build_capture.plan.needs import Class, Need, Options, Parameter, Witness
from build_capture.sets.match import Argument, Index, Launch
from build_capture.sets.model import SetKernel
from build_capture.sets.pack import file_order, kernel_of
from build_capture.targets import parse_target
from tests.policy.kernels import KERNELS

TARGET = parse_target("sm_121")

VALUES = {Class.ONE: 1, Class.DIV16: 32, Class.ANY: 3, Class.ALIGNED: 0x7000, Class.UNALIGNED: 0x7004}
"""A value of each class."""

NAMES = {"1": Class.ONE, "16": Class.DIV16, "?": Class.ANY, "+": Class.ALIGNED, "-": Class.UNALIGNED}
"""How tests write a class."""

SIGNATURES = {
    "_unspecialized": "X:*fp32 N:i32",
    "_unhinted": "X:*fp32 N:i32",
    "_annotated": "X:*fp32 N:i32",
    "_typed": "X:*fp32 N:i32",
    "_loose": "X:*fp32 N:i32",
    "_shifted": "X:*fp32 N:i32",
    "_words": "T:*i32 X:*i32",
    "_rows": "T:*i32 X:*fp32 W:i32",
    "_table": "T:*i32 X:*fp32 ldx:i32",
    "_copy": "X:*fp32 OUT:*fp32 n:i32",
    "_seeds": "X:*fp32 S:u64",
}


def need(function: str, classes: str) -> Need:
    """A need of one of the kernels, a class for each argument: `+ 16`."""
    given = [part.split(":") for part in SIGNATURES[function].split()]
    parameters = [Parameter(name, kind, NAMES[text]) for (name, kind), text in zip(given, classes.split(), strict=True)]
    return Need(function, parameters, {}, Options(1, 1), 1, Witness("decode", 1, 1, [1], {}, [1, 1, 1], []))


def launch(of: Need, **values: int) -> Launch:
    """A launch that asks for a need; `values` takes the place of its own."""
    arguments = (Argument(p.name, p.type, values.get(p.name, VALUES[p.class_])) for p in of.parameters if p.class_)
    return Launch(of.function, tuple(arguments), (), 1, 1)


@dataclass
class Made:
    """A set's entries in file order, and what they were made of."""

    applied: Applied

    @property
    def entries(self) -> list[SetKernel]:
        """As they stand in the set."""
        return sorted([*map(kernel_of, self.applied.variants), *self.applied.aliases], key=file_order)

    @property
    def index(self) -> Index:
        """What engines look launches up in."""
        return Index(self.entries)


@dataclass
class Shop:
    """Compiles the small kernels and applies policies to needs of them."""

    folder: Path
    cache: Path
    description: Description

    def compile(self, needs: Sequence[Need]) -> Compiled:
        """Compile, or find what a test before has compiled."""
        return compile_needs(needs, self.description, self.folder, TARGET, cache=self.cache, jobs=2, progress=lambda *_: None)

    def make(self, policy: str, *needs: Need) -> Made:
        """The set of these needs under a policy."""
        return Made(apply_policy(policy, needs, self.description.kernels, self.compile))  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """The small kernels, those compiled that many tests ask for."""
    root = tmp_path_factory.mktemp("policies")
    folder = root / "kernels"
    folder.mkdir()
    (folder / "small.py").write_text(KERNELS)
    return Shop(folder, root / "cache", describe_kernels(folder, sorted(SIGNATURES), TARGET, root / "cache"))


@pytest.fixture
def make(shop: Shop) -> Callable[..., Made]:
    """Makes a set: `make("compact", need("_rows", "+ + 1"), …)`."""
    return shop.make
