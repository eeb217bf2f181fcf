"""Unmodified declaration files, of every family and generation, compile with the runtime as their `cuda`."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.end_to_end.conftest import zig_executable
from tests.families.harness import FAMILIES
from tests.start.test_docs import block

ROOT = Path(__file__).resolve().parents[2]
BRIDGE = ROOT / "zig_bridge" / "set"
DECLARATIONS = {name: ROOT / "tests" / "families" / name / "src" / "triton.zig" for name in FAMILIES}
DECLARATIONS["qwen27"] = ROOT / "examples" / "qwen27" / "src" / "triton.zig"


def program(files: dict[str, Path]) -> tuple[str, int]:
    """A program that refers to every public function of the files, so that Zig compiles each; and how many they are."""
    lines = ["comptime {"]
    for name, path in files.items():
        owner = f'@import("{name}")'
        for line in path.read_text(encoding="utf-8").splitlines():
            if found := re.match(r"pub const (\w+) = struct", line):
                owner = f'@import("{name}").{found[1]}'
            elif line == "}" or line == "};":
                owner = f'@import("{name}")'
            elif found := re.match(r" *pub fn (\w+)\(", line):
                lines.append(f"    _ = &{owner}.{found[1]};")
    return "\n".join([*lines, "}", "pub fn main() void {}", ""]), len(lines) - 1


def compile_all(zig: str, folder: Path, files: dict[str, Path], runtime: Path) -> subprocess.CompletedProcess[str]:
    """Compile the program, without making one."""
    text, count = program(files)
    assert count >= 15, text
    root = folder / "root.zig"
    root.write_text(text, encoding="utf-8")
    modules = [word for name in files for word in ("--dep", name)] + [f"-Mroot={root}"]
    for name, path in files.items():
        modules += ["--dep", "cuda", f"-M{name}={path}"]
    modules += ["--dep", "set", f"-Mcuda={runtime}", f"-Mset={BRIDGE / 'set.zig'}"]
    caches = ["--cache-dir", str(folder / "cache")]
    return subprocess.run([zig, "build-exe", "-fno-emit-bin", "-lc", *caches, *modules], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("release", ["0.16", "0.17"])
def test_runtime_compiles_every_declaration_file(release: str, tmp_path: Path) -> None:
    # And the engine of docs/runtime.md, over the declaration file of docs/declarations.md.
    for name, page in (("main.zig", "docs/runtime.md"), ("triton.zig", "docs/declarations.md")):
        (tmp_path / name).write_text(block(page, "zig"), encoding="utf-8")
    done = compile_all(zig_executable(release), tmp_path, DECLARATIONS | {"sample": tmp_path / "main.zig"}, BRIDGE / "runtime" / "runtime.zig")
    assert done.returncode == 0, done.stderr


def test_runtime_without_a_name_of_declaration_files_is_an_error(tmp_path: Path) -> None:
    runtime = tmp_path / "runtime"
    runtime.mkdir()
    for path in (BRIDGE / "runtime").glob("*.zig"):
        text = path.read_text(encoding="utf-8")
        (runtime / path.name).write_text(text.replace("pub fn smallestConst(", "pub fn largestConst("), encoding="utf-8")
    done = compile_all(zig_executable("0.16"), tmp_path, DECLARATIONS, runtime / "runtime.zig")
    assert done.returncode != 0 and "smallestConst" in done.stderr
