"""The kernels at the real geometry, compiled for sm_121 without a GPU: they fit into its shared memory."""

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.kernels.interpreted import FUNCTIONS, KERNELS

SHARED_MOST = 101376
"""Bytes of shared memory that a block may have on sm_121."""


def shared_memory(folder, functions, cache):
    """Function -> bytes of shared memory of a block on sm_121."""
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"} | {"TRITON_CACHE_DIR": str(cache)}
    command = [sys.executable, str(Path(__file__).with_name("compile.py")), str(folder), "121", ",".join(functions)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=90, env=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_kernel_fits_into_shared_memory(tmp_path):
    found = shared_memory(KERNELS, FUNCTIONS, tmp_path)
    assert sorted(found) == sorted(FUNCTIONS)
    assert {function: bytes_ for function, bytes_ in found.items() if bytes_ > SHARED_MOST} == {}


def test_larger_tiles_do_not_fit(tmp_path):
    folder = tmp_path / "qwen27"
    shutil.copytree(KERNELS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    module = folder / "own_keys.py"
    text = module.read_text(encoding="utf-8")
    assert "\nTILE = tl.constexpr(32)\n" in text
    module.write_text(text.replace("\nTILE = tl.constexpr(32)\n", "\nTILE = tl.constexpr(64)\n"), encoding="utf-8")
    assert shared_memory(folder, ["_tail"], tmp_path / "cache")["_tail"] > SHARED_MOST


def imported(module):
    """The absolute names that a module imports, and its siblings with a dot before."""
    names = set()
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add("." * node.level + (node.module or ""))
    return names


def test_kernel_modules_import_triton_alone():
    modules = [module for module in sorted(KERNELS.glob("*.py")) if "\n@triton.jit\n" in module.read_text(encoding="utf-8")]
    assert len(modules) == 10
    kernels = {f".{module.stem}" for module in modules}
    assert {module.name: imported(module) - kernels - {"triton"} for module in modules} == {module.name: set() for module in modules}
