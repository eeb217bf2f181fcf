"""A Zig project whose kernel keeps Triton from hints: its capture is covered as engines match, under every policy."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.start.test_init import ROOT, edit, init, run, write_project


def build(zig: str, project: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Capture, install and test the set."""
    return run([zig, "build", "install", "check", "-Dcapture=true", f"-Dcapture-python={sys.executable}", *options], project)


@pytest.mark.full
def test_kernel_without_hints_is_covered_under_every_policy(tmp_path: Path) -> None:
    zig = os.environ["BUILD_CAPTURE_ZIG_0_16"]
    project = tmp_path / "engine"
    write_project(project)
    # X has no hint, so that its alignment is served by an alias; N is never folded, so that 1 is.
    edit(project / "python/ops/tile.py", "@triton.jit\n", '@triton.jit(do_not_specialize_on_alignment=["X"])\n')
    edit(project / "python/ops/tile.py", "X, N,", "X, N: int,")
    assert init(project, zig).returncode == 0
    assert run([zig, "fetch", "--save=build_capture", str(ROOT)], project).returncode == 0
    edit(project / "build.zig", "// here\n    _ = checks;", "_ = addCapture(b, checks);")
    edit(project / "capture.zon", '// .@"k.depth" = .{ .from = LEAST, .to = MOST },', '.@"k.depth" = 2,')
    edit(project / "capture.zon", "// Fill in: Kernels.tile takes", "// Kernels.tile takes")
    edit(project / "capture.zon", ".parallel = 16, .window_rows = 1,", ".parallel = 4, .window_rows = 16,")
    installed = project / "zig-out/share/engine/cuda/sm121/aot.json"
    cubins = {}
    for policy in ("exact", "compact", "total"):
        built = build(zig, project, f"-Dcapture-policy={policy}")
        assert built.returncode == 0, built.stdout
        kernels = json.loads(installed.read_text(encoding="utf-8"))["kernels"]
        cubins[policy] = len({kernel["hash"] for kernel in kernels})
        assert not any(parameter["assumes16"] for kernel in kernels for parameter in kernel["params"] if parameter["name"] == "X")
        assert any(kernel["alias"] for kernel in kernels)
    # Tiles of 16, 32 and 64 rows, each for multiples of 16 and for any other; 1 is any other.
    assert cubins == {"exact": 6, "compact": 3, "total": 6}
    # Without its aliases the same set is not covered.
    document = json.loads(installed.read_text(encoding="utf-8"))
    bare = tmp_path / "bare"
    (bare / "cubins").mkdir(parents=True)
    kept = [kernel for kernel in document["kernels"] if not kernel["alias"]]
    (bare / "aot.json").write_text(json.dumps(document | {"kernels": kept}), encoding="utf-8")
    for kernel in kept:
        (bare / "cubins" / f"{kernel['hash']}.cubin").write_bytes((installed.parent / "cubins" / f"{kernel['hash']}.cubin").read_bytes())
    failed = run([zig, "build", "check", f"-Dcapture-set={bare}"], project)
    assert failed.returncode != 0 and "no captured variant of _tile" in failed.stdout, failed.stdout
