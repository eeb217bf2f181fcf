"""Starts `cases.py` in a process that interprets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

KERNELS = Path(__file__).resolve().parents[2] / "kernels" / "qwen27"
FUNCTIONS = (
    "_embed", "_add_rmsnorm", "_gdn_pre", "_gated_norm", "_swiglu", "_attn_prep",
    "_gate_mul", "_group_sums", "_paths", "_shared", "_tail", "_merge",
)  # fmt: skip


def run_cases(pairs: Iterable[tuple[Path, Iterable[str]]], first_failure: bool = False) -> list[dict[str, dict[str, list[str]]]]:
    """For each (copy of the kernels, functions): function -> case -> failures, up to the first case that fails if so asked."""
    words = [word for folder, functions in pairs for word in (str(folder), ",".join(functions))]
    script = Path(__file__).with_name("cases.py")
    done = subprocess.run(
        [sys.executable, str(script), "first" if first_failure else "all", *words], capture_output=True, text=True, timeout=90, env={**os.environ, "TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "2"}
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
