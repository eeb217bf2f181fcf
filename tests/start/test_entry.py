"""What a Python is told that lacks something: how to install it, from this tree."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_entry_without_packages_names_all_of_them_and_this_tree() -> None:
    # Without site-packages nothing is installed.
    finished = subprocess.run([sys.executable, "-S", "-I", ROOT / "build_capture"], capture_output=True, text=True, check=False, timeout=60)
    assert finished.returncode == 4
    assert "lacks click, msgspec, ninja, rich, triton; run `" in finished.stderr
    assert f"-m pip install {shlex.quote(str(ROOT))}`, or name another Python (-Dcapture-python; in CMake, TRITON_CAPTURE_PYTHON)" in finished.stderr


@pytest.mark.parametrize(("command", "module"), [("report", "jinja2"), ("verify", "zstandard")])
def test_command_without_its_own_package_says_so(command: str, module: str, tmp_path: Path) -> None:
    (tmp_path / f"{module}.py").write_text(f"raise ModuleNotFoundError(\"No module named '{module}'\", name='{module}')\n")
    (tmp_path / "set.tar.zst").write_bytes(b"")
    finished = subprocess.run(
        [sys.executable, ROOT / "build_capture", command, tmp_path / "set.tar.zst"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
    )
    assert finished.returncode == 4, finished.stderr
    assert f"error: {sys.executable} lacks {module}; run `" in finished.stderr and "Traceback" not in finished.stderr


ANOTHER_TREE = """
import importlib.machinery, sys

class Editable:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] == "build_capture":
            raise ImportError("another tree was asked for " + name)

sys.meta_path.insert(0, Editable)
"""
"""What an editable install does when Python starts: its finder comes before the path."""


@pytest.mark.parametrize("arguments", [("--version",), ("--module", "build_capture.doctor.triton_answer", "answer.json")])
def test_tree_that_is_started_runs_though_python_has_another(arguments: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(ANOTHER_TREE, encoding="utf-8")
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path)}
    for program, works in ((["-m", "build_capture"], False), ([str(ROOT / "build_capture")], True)):
        command = [sys.executable, *program, *arguments]
        finished = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=60)
        assert (finished.returncode == 0) is works, finished.stderr
        assert ("another tree was asked for build_capture" in finished.stderr) is not works
