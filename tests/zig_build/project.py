"""A small consumer of the build helper, and how the tests call `zig build` in it."""

import json
import os
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FAKE = Path(__file__).with_name("fake_capture.py")
FRAGMENT = ROOT / "build.zig.fragment"

BUILD = """const std = @import("std");

pub fn build(b: *std.Build) void {
    _ = addCapture(b, b.step("test", "Run the tests"));
}

"""
PROFILE = """.{
    .family = "tiny",
    .declarations = "src/triton.zig",
    .rounds = "src/rounds.zig",
    .kernels = "kernels",
    .target = "sm_121",
    .limits = .{ .parallel = 1, .window_rows = 1, .prompt_rows = 1 },
    .geometry = .{ .width = 64 },
}
"""
DECLARATIONS = """const cuda = @import("cuda");
const aot = cuda.aot;

pub const Tri = struct {
    set: *const aot.Set,
    s: cuda.Stream,

    pub fn copy(t: Tri, rows: usize, width: usize, source: u64) !void {
        try t.set.run(t.s, "_copy", .{ 1, 1, 1 }, &.{ aot.ptr("X", "*bf16", source), aot.int("W", @intCast(rows)) }, &.{aot.ci("D", @intCast(width))});
    }
};
"""
ROUNDS = """const capture = @import("build_capture");
const cuda = @import("cuda");
const profile = @import("profile");
pub const declarations = @import("triton.zig");

pub const Layout = struct {};

pub fn layouts(round: capture.Round, list: *capture.Layouts(Layout)) !void {
    _ = round;
    try list.add(.{});
}

pub fn drive(set: *const cuda.aot.Set, round: capture.Round, layout: Layout) !void {
    _ = layout;
    const tri: declarations.Tri = .{ .set = set, .s = .{} };
    try tri.copy(round.rows(), profile.geometry.width, 4096);
}
"""

KERNEL = """import triton
import triton.language as tl

LAUNCH_OPTIONS = {"_copy": {"num_warps": 1}}


@triton.jit
def _copy(X, W, D: tl.constexpr):
    column = tl.arange(0, D)
    tl.store(X + W * D + column, tl.load(X + column))
"""


def package_manifest(dependency: str) -> str:
    """A `build.zig.zon` that has the package as `dependency`, which is a field of Zig's: `.path = "../.."`."""
    return (
        '.{ .name = .tiny, .version = "0.0.0", .fingerprint = 0x50b897c952e02b08, .minimum_zig_version = "0.16.0",\n'
        f'    .dependencies = .{{ {dependency} }}, .paths = .{{"."}} }}\n'
    )


@dataclass(frozen=True)
class Project:
    """A consumer in a folder of its own."""

    folder: Path
    zig: str
    """The Zig to build with."""

    def write(self, dependency: str | None = None) -> None:
        """Write the files; the package comes from this checkout unless `dependency` says otherwise."""
        relative = os.path.relpath(ROOT, self.folder)
        files = {
            "build.zig": BUILD + FRAGMENT.read_text(encoding="utf-8"),
            "build.zig.zon": package_manifest(dependency or f".build_capture = .{{ .path = {json.dumps(relative, ensure_ascii=False)} }}"),
            "capture.zon": PROFILE,
            "src/triton.zig": DECLARATIONS,
            "src/rounds.zig": ROUNDS,
            "kernels/copy.py": "# A kernel.\n",
            "dependency.txt": "first",
        }
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        self.python("python")

    def write_kernel(self) -> None:
        """Make the consumer one that Triton can compile: a kernel, for two streams, driven over domains, without rounds."""
        (self.folder / "kernels" / "copy.py").write_text(KERNEL, encoding="utf-8")
        (self.folder / "src" / "rounds.zig").unlink()
        profile = PROFILE.replace('    .rounds = "src/rounds.zig",\n', "").replace(".parallel = 1", ".parallel = 2")
        (self.folder / "capture.zon").write_text(profile, encoding="utf-8")

    def python(self, name: str) -> Path:
        """Write a program that stands in for Python under `name`; each has a log of its own."""
        program = self.folder / "bin" / name
        program.parent.mkdir(parents=True, exist_ok=True)
        words = [sys.executable, str(FAKE), str(program) + ".log"]
        program.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n', encoding="utf-8")
        program.chmod(0o755)
        return program

    def starts(self, name: str = "python") -> list[list[str]]:
        """The command lines with which a stand-in was started so far."""
        log = self.folder / "bin" / f"{name}.log"
        return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()] if log.exists() else []

    def run(self, *arguments: str, path: str | None = None) -> subprocess.CompletedProcess[str]:
        """`zig build` with these arguments; stdout and stderr come back together, in `stdout`."""
        environment = dict(os.environ) if path is None else {**os.environ, "PATH": path}
        return subprocess.run(
            [self.zig, "build", *arguments],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=600,
        )

    @property
    def keeps_its_graph(self) -> bool:
        """Whether this Zig keeps the configured graph, so that `build.zig` must not look at what can change."""
        version = subprocess.run([self.zig, "version"], capture_output=True, text=True, check=True).stdout
        return version.startswith("0.17.")

    def capture(self, *arguments: str) -> str:
        """Install and test with `-Dcapture=true`; it has to succeed."""
        result = self.run("install", "test", "-Dcapture=true", f"-Dcapture-python={self.folder}/bin/python", *arguments)
        assert result.returncode == 0, result.stdout
        return result.stdout

    def installed(self, target: str = "sm121") -> Path:
        """The folder of an installed set."""
        return self.folder / "zig-out" / "share" / "tiny" / "cuda" / target
