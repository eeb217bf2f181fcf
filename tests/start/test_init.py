"""`build-capture init` in a project of another layout, and what its capture then does."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

BUILD = """const std = @import("std");

pub fn build(b: *std.Build) void {
    const checks = b.step("check", "Check everything");
    // here
    _ = checks;
}
"""
MANIFEST = """.{
    .name = .engine,
    .version = "0.0.0",
    .fingerprint = 0xe8a81a8ded879f35,
    .minimum_zig_version = "0.16.0",
    .dependencies = .{},
    .paths = .{"."},
}
"""
LAUNCHES = """const std = @import("std");
const cuda = @import("cuda");
const aot = cuda.aot;

pub const Kernels = struct {
    set: *const aot.Set,
    s: cuda.Stream,
    depth: usize,

    pub fn tile(k: Kernels, rows: usize, x: u64) !void {
        const side = @max(16, std.math.ceilPowerOfTwoAssert(usize, rows));
        try k.set.run(k.s, "_tile", .{ 1, 1, 1 }, &.{ aot.ptr("X", "*bf16", x), aot.int("N", @intCast(rows)) }, &.{
            aot.ci("BM", @intCast(side)),
            aot.ci("DEPTH", @intCast(k.depth)),
        });
    }
};
"""
KERNEL = """import triton
import triton.language as tl


@triton.jit
def _tile(X, N, BM: tl.constexpr, DEPTH: tl.constexpr):
    at = tl.arange(0, BM)
    tl.store(X + at, tl.load(X + DEPTH + at), mask=at < N)
"""


def write_project(folder: Path) -> None:
    """A small engine: launches and kernels are where its authors like them."""
    files = {
        "build.zig": BUILD,
        "build.zig.zon": MANIFEST,
        "lib/gpu/launches.zig": LAUNCHES,
        "lib/gpu/unrelated.zig": "pub const answer = 42;\n",
        "python/ops/tile.py": KERNEL,
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a project; what it prints comes back together."""
    return subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=600)


def init(folder: Path, zig: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `build-capture init` in a project."""
    return run([sys.executable, str(ROOT / "build_capture"), "init", "--zig", zig, *arguments], folder)


def edit(path: Path, old: str, new: str) -> None:
    """Replace `old`, which must be there once."""
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, text
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.fixture(params=["BUILD_CAPTURE_ZIG_0_16", pytest.param("BUILD_CAPTURE_ZIG_0_17", marks=pytest.mark.full)])
def zig(request: pytest.FixtureRequest) -> str:
    """Each supported Zig. Without one the test fails: a skip would look like a pass."""
    executable = os.environ.get(request.param)
    if not executable:
        pytest.fail(f"{request.param} is not set; expected the path of that Zig; try `make test`", pytrace=False)
    return executable


def test_init_and_the_edits_that_it_asks_for_make_a_capture(zig: str, tmp_path: Path) -> None:
    project = tmp_path / "an engine"
    write_project(project)
    first = init(project, zig)
    assert first.returncode == 0, first.stdout
    assert "lib/gpu/launches.zig: 1 launch; kernels in python/ops" in first.stdout
    assert "zig fetch --save=build_capture" in first.stdout
    assert "2. in build() of build.zig, call _ = addCapture(b, test_step);" in first.stdout
    assert "3. in capture.zon, complete the 1 line after `// Fill in:`" in first.stdout
    check_profile_says_what_to_check(project)
    check_second_init_changes_nothing(project, zig)

    fetched = run([zig, "fetch", "--save=build_capture", str(ROOT)], project)
    assert fetched.returncode == 0, fetched.stdout
    edit(project / "build.zig", "// here\n    _ = checks;", "_ = addCapture(b, checks);")
    assert "// A constant of the model belongs into .geometry instead, under its own name: .depth = NUMBER,\n" in read(project)
    edit(project / "capture.zon", ".geometry = .{},", ".geometry = .{ .depth = 2 },")
    edit(project / "capture.zon", ".parallel = 16, .window_rows = 1,", ".parallel = 4, .window_rows = 16,")
    built = run([zig, "build", "install", "check", "-Dcapture=true", f"-Dcapture-python={sys.executable}"], project)
    assert built.returncode == 0, built.stdout
    installed = project / "zig-out" / "share" / "an-engine" / "cuda" / "sm121"
    assert sorted(path.name for path in installed.iterdir()) == ["aot.json", "cubins"]
    assert len(json.loads((installed / "aot.json").read_text(encoding="utf-8"))["kernels"]) == 7
    # What the geometry gives is no longer to be filled in, though its line still stands there.
    assert "Next:\n  1. in capture.zon, check the target and the limits\n" in init(project, zig).stdout
    check_finished_set(project, zig, tmp_path / "set")


def read(project: Path) -> str:
    """The project's profile."""
    return (project / "capture.zon").read_text(encoding="utf-8")


def check_profile_says_what_to_check(project: Path) -> None:
    """An address is listed as something to check, since taking it for aligned is a guess; nothing can be pasted unread."""
    text = read(project)
    check, inferred = text.index("// Check: taken as aligned to 16 bytes."), text.index("// Inferred; a line here says otherwise.")
    assert check < text.index("// Kernels.tile x (u64), launches.zig:10.") < inferred < text.index("// Kernels.tile rows (usize): 1..max(")
    assert "LEAST" in text and ".from = 1" not in text


def check_second_init_changes_nothing(project: Path, zig: str) -> None:
    """What is there stays, so that the command can be given again."""
    before = {name: (project / name).read_bytes() for name in ("build.zig", "capture.zon")}
    assert before["build.zig"].count(b"// build-capture: begin") == 1
    second = init(project, zig)
    assert second.returncode == 0, second.stdout
    assert "capture.zon: was there" in second.stdout and "build.zig: had the fragment already" in second.stdout
    assert {name: (project / name).read_bytes() for name in before} == before


def check_finished_set(project: Path, zig: str, folder: Path) -> None:
    """A finished set is checked without Python; a tile or a class that it lacks is told by the first rows that ask for it."""
    shutil.copytree(project / "zig-out" / "share" / "an-engine" / "cuda" / "sm121", folder)
    command = [zig, "build", "check", f"-Dcapture-set={folder}", "-Dcapture-python=/nonexistent"]
    good = run(command, project)
    assert good.returncode == 0, good.stdout
    manifest = folder / "aot.json"
    whole = json.loads(manifest.read_text(encoding="utf-8"))
    cubins = {path.stem: path.read_bytes() for path in (folder / "cubins").iterdir()}
    without_tile = [kernel for kernel in whole["kernels"] if kernel["consts"]["BM"] != {"int": 64}]
    generic = [kernel for kernel in whole["kernels"] if not any(p["name"] == "N" and p["div16"] for p in kernel["params"])]
    for kernels, rows in ((without_tile, 33), (generic, 16)):
        manifest.write_text(json.dumps(whole | {"kernels": kernels}), encoding="utf-8")
        write_cubins(folder / "cubins", {kernel["hash"]: cubins[kernel["hash"]] for kernel in kernels})
        failed = run(command, project)
        assert failed.returncode != 0
        assert f"no captured variant of _tile for a launch of a call of Kernels.tile with k.depth=2 rows={rows}" in failed.stdout, failed.stdout
        assert "zig build -Dcapture=true -Dparallel=4 -Dwindow-rows=16" in failed.stdout


def write_cubins(folder: Path, cubins: dict[str, bytes]) -> None:
    """Make these the cubins of a set, and no other."""
    shutil.rmtree(folder)
    folder.mkdir()
    for name, data in cubins.items():
        (folder / f"{name}.cubin").write_bytes(data)


def test_init_refuses_a_folder_without_a_build(tmp_path: Path) -> None:
    result = init(tmp_path, "zig")
    assert result.returncode == 2
    assert "error: there is no build.zig; run init in the folder of a Zig project" in result.stdout


def test_init_names_the_candidates_where_there_are_several(zig: str, tmp_path: Path) -> None:
    write_project(tmp_path)
    shutil.copy(tmp_path / "lib/gpu/launches.zig", tmp_path / "lib/gpu/others.zig")
    before = (tmp_path / "build.zig").read_bytes()
    result = init(tmp_path, zig)
    assert result.returncode == 2
    assert "2 files launch kernels: lib/gpu/launches.zig, lib/gpu/others.zig; name the declaration file with --declarations" in result.stdout
    assert not (tmp_path / "capture.zon").exists() and (tmp_path / "build.zig").read_bytes() == before
    (tmp_path / "python/ops/tile.py").unlink()
    for _ in range(2):
        named = init(tmp_path, zig, "--declarations", str(tmp_path / "lib/gpu/others.zig"))
        assert named.returncode == 0 and '.declarations = "lib/gpu/others.zig"' in read(tmp_path), named.stdout
        # No kernels are found, and nothing says how deep.
        assert "3. in capture.zon, complete the 2 lines after `// Fill in:`" in named.stdout
