"""A small set, what it serves, and copies of it that lack something."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from build_capture.pipeline.capture import capture
from build_capture.pipeline.plan import Request
from tests.families.conftest import ZIG_VARIABLES, zig_of
from tests.families.harness import HERE

FAMILY = HERE / "mixed"


@pytest.fixture(scope="session")
def planning(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the command line gives: the family's profile and its own limits."""
    return {
        "profile": FAMILY / "capture.zon",
        "parallel": None,
        "window_rows": None,
        "target": None,
        "zig": zig_of(ZIG_VARIABLES[0]),
        "reader": None,
        "cache": tmp_path_factory.mktemp("cache"),
    }


@pytest.fixture(scope="session")
def captured(planning: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the family's set."""
    folder = tmp_path_factory.mktemp("captured") / "set"
    capture(Request(**planning), folder, depfile=None, jobs=2, progress=lambda *_: None)
    return folder


@pytest.fixture
def without(captured: Path, tmp_path: Path) -> Callable[[Callable[[dict[str, Any]], bool]], Path]:
    """Makes a copy of the set without the entries that a function picks."""

    def copy(drops: Callable[[dict[str, Any]], bool]) -> Path:
        folder = tmp_path / "lacking"
        shutil.copytree(captured, folder)
        manifest = json.loads((folder / "aot.json").read_text())
        kept = [kernel for kernel in manifest["kernels"] if not drops(kernel)]
        assert len(kept) < len(manifest["kernels"])
        (folder / "aot.json").write_text(json.dumps({**manifest, "kernels": kept}))
        return folder

    return copy
