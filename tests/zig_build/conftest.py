"""Fixtures of the build helper's tests: every test runs with both supported Zig releases."""

import os
from pathlib import Path

import pytest

from tests.zig_build.project import Project

ZIG_VARIABLES = ("BUILD_CAPTURE_ZIG_0_16", "BUILD_CAPTURE_ZIG_0_17")
"""Where `make test` says which Zig is which."""


@pytest.fixture(scope="session", params=ZIG_VARIABLES)
def zig(request: pytest.FixtureRequest) -> str:
    """A Zig executable. Without one the test fails: a skip would look like a pass."""
    executable = os.environ.get(request.param)
    if not executable:
        pytest.fail(f"{request.param} is not set; expected the path of that Zig; try `make test`", pytrace=False)
    return executable


@pytest.fixture(scope="session")
def shared(zig: str, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """One captured consumer for each Zig, shared by the tests, so that they compile the same things once."""
    project = Project(tmp_path_factory.mktemp("tiny"), zig)
    project.write()
    project.capture()
    return project


@pytest.fixture
def project(shared: Project) -> Project:
    """The shared consumer, as it was first written."""
    (shared.folder / "dependency.txt").write_text("first", encoding="utf-8")
    return shared


@pytest.fixture
def spaced(zig: str, tmp_path: Path) -> Project:
    """A consumer of its own in a folder whose name has a space and a letter beyond ASCII."""
    project = Project(tmp_path / "a b" / "ü", zig)
    project.write()
    return project
