"""A whole capture where there is next to nothing: no PATH, no home, no C compiler, no torch, no driver."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.end_to_end.conftest import zig_executable
from tests.families.tiny import write_tiny

ROOT = Path(__file__).resolve().parents[2]


def names_below(folder: Path) -> set[str]:
    """What there is below a folder, the caches of a capture left out."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if "cache" not in path.relative_to(folder).parts[0]}


def test_r15_r24_a_capture_needs_no_path_home_compiler_torch_or_driver(tmp_path: Path) -> None:
    zig = zig_executable("0.16")
    project, empty = tmp_path / "project", tmp_path / "empty"
    write_tiny(project, zig, tmp_path, domains=".n = .{ .from = 1, .to = 16 }")
    (empty / "torch").mkdir(parents=True)
    (empty / "torch" / "__init__.py").write_text("raise ImportError('there is no torch here')\n")
    (empty / "temporary").mkdir()
    before = names_below(tmp_path)
    variables = {
        "PATH": "",
        "HOME": "/nonexistent",
        "CC": "/nonexistent",
        "PYTHONPATH": str(empty),
        "TMPDIR": str(empty / "temporary"),
        "TRITON_LIBCUDA_PATH": "/nonexistent",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [sys.executable, ROOT / "build_capture", "capture", "--profile", project / "capture.zon", "--zig", zig, "--jobs", "2", "--cache-dir", tmp_path / "cache"]
    finished = subprocess.run([*command, "--out", tmp_path / "set", "--json"], capture_output=True, text=True, check=False, env=variables, timeout=300)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert json.loads(finished.stdout)["cubins"] == 3
    made = {name for name in names_below(tmp_path) - before if not name.startswith("set")}
    # Nothing is left behind beside the set and the cache that was named.
    assert made == set() and not Path("/nonexistent").exists()
