"""A CMake project that captures: it configures, builds, tests and installs, in folders whose names hold a space."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import cmake
import ninja
import pytest

from tests.families.conftest import ZIG_VARIABLES, zig_of
from tests.families.tiny import write_tiny

ROOT = Path(__file__).resolve().parents[2]

OLDEST = "BUILD_CAPTURE_CMAKE_3_26"
"""Where `make test-full` says where CMake 3.26 is: the folder of its programs."""

PROJECT = """cmake_minimum_required(VERSION 3.26)
project(consumer LANGUAGES NONE)
enable_testing()
find_package(TritonCapture 0.1 REQUIRED)
triton_capture_add_set(NAME tiny PROFILE capture.zon KERNELS kernels/tiny.py TARGETS sm_121 PARALLEL 16)
"""

HELPER = "import triton\nimport triton.language as tl\n\nSIZE = tl.constexpr({size})\n"


class Consumer:
    """The project, with one kernel and a helper module that it imports."""

    def __init__(self, folder: Path, programs: str = cmake.CMAKE_BIN_DIR) -> None:
        self.programs = Path(programs)
        self.source, self.build, self.prefix = folder / "a b", folder / "c d", folder / "e f"
        write_tiny(
            self.source,
            "",
            folder,
            arguments='aot.int("N", @intCast(n)), aot.ptr("X", "*fp32", 256)',
            domains=".n = .{ 1, 2, 16 }, ",
            signature="N, X",
            before="from helper import SIZE\n",
        )
        kernel = self.source / "kernels/tiny.py"
        kernel.write_text(kernel.read_text().replace("tl.static_assert(True)", "tl.store(X + N, tl.full((), SIZE, tl.float32))"))
        self.helper(1)
        (self.source / "CMakeLists.txt").write_text(PROJECT)

    def helper(self, size: int) -> None:
        """Write the module that the kernel imports."""
        (self.source / "kernels/helper.py").write_text(HELPER.format(size=size))

    def run(self, program: str, *arguments: str | Path, ok: bool = True) -> str:
        """Run a program of CMake's; returns all that it printed."""
        finished = subprocess.run([self.programs / program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, env=os.environ)
        assert (finished.returncode == 0) is ok, finished.stdout
        return finished.stdout

    def configure(self, *definitions: str, ok: bool = True) -> str:
        """Configure with the package of this checkout."""
        given = [f"-DTritonCapture_DIR={ROOT / 'cmake'}", f"-DTRITON_CAPTURE_PYTHON={sys.executable}", f"-DZIG_EXECUTABLE={zig_of(ZIG_VARIABLES[0])}"]
        given += [f"-DCMAKE_MAKE_PROGRAM={Path(ninja.BIN_DIR) / 'ninja'}"]
        return self.run("cmake", "-S", self.source, "-B", self.build, "-G", "Ninja", *given, *definitions, ok=ok)

    def make(self, *, ok: bool = True) -> str:
        """Build everything."""
        return self.run("cmake", "--build", self.build, ok=ok)

    def cubins(self) -> dict[str, bytes]:
        """The cubins of the set in the build folder."""
        return {path.name: path.read_bytes() for path in (self.build / "tiny/sm121/cubins").iterdir()}


@pytest.fixture(scope="module", params=["current", pytest.param("3.26", marks=pytest.mark.full)])
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Consumer:
    """The project, built once by each CMake."""
    programs = cmake.CMAKE_BIN_DIR
    if request.param == "3.26":
        programs = os.environ.get(OLDEST) or pytest.fail(f"{OLDEST} is not set; expected the folder of that CMake's programs; try `make test-full`", pytrace=False)
    consumer = Consumer(tmp_path_factory.mktemp("cmake"), programs)
    version = consumer.run("cmake", "--version")
    assert ("cmake version 3.26" in version) is (request.param == "3.26"), version
    consumer.configure()
    assert "3 compiled, 0 reused" in consumer.make()
    return consumer


def test_second_build_does_nothing(built: Consumer) -> None:
    assert "no work to do" in built.make()


def test_edit_to_a_helper_module_captures_again(built: Consumer) -> None:
    before = built.cubins()
    built.helper(2)
    assert "Capturing tiny for sm_121" in built.make()
    assert len(before) == 3 and not before.keys() & built.cubins().keys()
    assert "no work to do" in built.make()
    # A comment makes the same set: its files stay, and the build still knows that it ran.
    (built.source / "triton.zig").write_text("// A comment.\n" + (built.source / "triton.zig").read_text())
    assert "Capturing tiny for sm_121" in built.make()
    assert "no work to do" in built.make()


def test_ctest_passes_and_fails_for_a_set_that_lacks_an_entry(built: Consumer) -> None:
    def ctest(ok: bool) -> str:
        return built.run("ctest", "--test-dir", built.build, "--output-on-failure", ok=ok)

    assert "tiny.coverage.sm121" in ctest(ok=True)
    file = built.build / "tiny/sm121/aot.json"
    whole = file.read_text()
    manifest = json.loads(whole)
    file.write_text(json.dumps({**manifest, "kernels": manifest["kernels"][1:]}))
    assert "MISSING" in ctest(ok=False)
    file.write_text(whole)


def test_installed_set_is_the_captured_one_and_holds_nothing_else(built: Consumer) -> None:
    # To a pattern, the one prefix would be the other.
    prefixes = [built.prefix.with_name("p[1]"), built.prefix.with_name("p1")]
    for prefix in prefixes:
        left = prefix / "share/tiny/cuda/sm121/cubins/a;b.cubin"
        left.parent.mkdir(parents=True)
        left.write_bytes(b"of an earlier set")
    for prefix in reversed(prefixes):
        built.run("cmake", "--install", built.build, "--prefix", prefix)
    for prefix in prefixes:
        folder = prefix / "share/tiny/cuda/sm121"
        assert sorted(path.name for path in folder.iterdir()) == ["aot.json", "cubins"]
        assert {path.name: path.read_bytes() for path in (folder / "cubins").iterdir()} == built.cubins()


def test_set_that_was_not_built_leaves_the_installed_one_as_it_is(tmp_path: Path) -> None:
    consumer = Consumer(tmp_path)
    for options, ok in (("EXCLUDE_FROM_ALL", True), ("", False)):
        (consumer.source / "CMakeLists.txt").write_text(PROJECT.replace("PARALLEL 16", f"PARALLEL 16 {options}"))
        consumer.configure()
        installed = consumer.prefix / "share/tiny/cuda/sm121/cubins/copy.cubin"
        installed.parent.mkdir(parents=True, exist_ok=True)
        installed.write_bytes(b"of the installed set")
        consumer.run("cmake", "--install", consumer.build, "--prefix", consumer.prefix, ok=ok)
        assert installed.read_bytes() == b"of the installed set"


def test_kernel_that_does_not_compile_fails_the_build(tmp_path: Path) -> None:
    consumer = Consumer(tmp_path)
    (consumer.source / "kernels/helper.py").write_text("SIZE = None\n")
    consumer.configure()
    printed = consumer.make(ok=False)
    assert "_tiny" in printed and "error:" in printed
    assert not (consumer.build / "tiny/sm121.stamp").exists()


def test_what_is_missing_is_said_when_configuring(tmp_path: Path) -> None:
    consumer = Consumer(tmp_path)
    project = consumer.source / "CMakeLists.txt"
    cases = [
        ("NAME tiny", "", "triton_capture_add_set: NAME is missing"),
        ("TARGETS sm_121", "TARGETS", "triton_capture_add_set: TARGETS is missing"),
        ("PARALLEL 16", "PARALEL 16", "triton_capture_add_set: PARALEL in TARGETS is no target; expected one such as sm_121"),
        ("NAME tiny", "NAME tiny LIMIT 2", "triton_capture_add_set: not understood: LIMIT;2"),
        ("TritonCapture 0.1", "TritonCapture 99", "0.1.0"),
    ]
    for old, new, message in cases:
        project.write_text(PROJECT.replace(old, new))
        shutil.rmtree(consumer.build, ignore_errors=True)
        assert message in " ".join(consumer.configure(ok=False).split()), message
    project.write_text(PROJECT)
    shutil.rmtree(consumer.build)
    assert "does not start" in " ".join(consumer.configure("-DTRITON_CAPTURE_PYTHON=/bin/false", ok=False).split())
