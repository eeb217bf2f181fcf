"""Fixtures of the families' tests: the Zigs, and one cache for the session."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.families.harness import Family, copy_of
from tests.families.tiny import write_tiny

ZIG_VARIABLES = ("BUILD_CAPTURE_ZIG_0_16", "BUILD_CAPTURE_ZIG_0_17")
"""Where `make test` says which Zig is which."""


def zig_of(variable: str) -> str:
    """The Zig that a variable names. Without one the test fails: a skip would look like a pass."""
    executable = os.environ.get(variable)
    if not executable:
        pytest.fail(f"{variable} is not set; expected the path of that Zig; try `make test`", pytrace=False)
    return executable


@pytest.fixture(scope="session", params=ZIG_VARIABLES)
def each_zig(request: pytest.FixtureRequest) -> str:
    """Each supported Zig."""
    return zig_of(request.param)


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the captures of this session share."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def family(tmp_path: Path, cache: Path) -> Callable[[str], Family]:
    """Gives an own copy of a family."""
    return lambda name: copy_of(name, tmp_path, zig_of(ZIG_VARIABLES[0]), cache)


@pytest.fixture
def tiny(tmp_path: Path, cache: Path) -> Callable[..., Family]:
    """Gives a family of one kernel, written for one test; see `write_tiny`."""
    return lambda **parts: write_tiny(tmp_path / "tiny", zig_of(ZIG_VARIABLES[0]), cache, **parts)
