"""The wheel: what it carries, and that it works where it is installed. No download takes place."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.read.reader import FIXTURES

ROOT = Path(__file__).resolve().parents[2]
HOOK = "import sys; from scikit_build_core import build; print(getattr(build, sys.argv[1])(sys.argv[2]))"


def run(*command: str | Path, folder: Path) -> str:
    """The output of a command that must succeed."""
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution, unpacked in a folder whose name holds a space."""
    folder = tmp_path_factory.mktemp("source") / "a b"
    run(sys.executable, "-c", HOOK, "build_sdist", folder, folder=ROOT)
    (archive,) = folder.iterdir()
    with tarfile.open(archive) as opened:
        opened.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    return folder / archive.name.removesuffix(".tar.gz")


@pytest.fixture(scope="module")
def wheel(source: Path) -> Path:
    """The wheel, built from the source distribution."""
    command = [sys.executable, "-m", "pip", "wheel", ".", "--no-build-isolation", "--no-deps", "--no-index", "--wheel-dir", source.parent / "wheel"]
    run(*command, folder=source)
    (built,) = (source.parent / "wheel").iterdir()
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the wheel is installed to; the source tree is gone by then."""
    target = tmp_path_factory.mktemp("installed") / "c d"
    command = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--target", target, wheel]
    run(*command, folder=wheel.parent)
    return target


def test_sdist_holds_what_a_build_needs_and_no_more(source: Path) -> None:
    names = {path.name for path in source.iterdir()}
    assert {"CMakeLists.txt", "LICENSE", "README.md", "build_capture", "cmake", "pyproject.toml", "zig_bridge"} <= names
    assert not names & {".ci", ".git", ".venv", ".zig-cache", "benchmarks", "docs", "tests", "zig-out"}


def test_wheel_serves_every_python_of_the_platform(wheel: Path) -> None:
    name, version, python, abi, platform = wheel.stem.split("-")
    assert (name, version, python, abi) == ("build_capture", "0.1.0", "py3", "none")
    assert platform.startswith("linux_")


def test_wheel_carries_the_reader_and_the_zig_sources(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as opened:
        names = set(opened.namelist())
        record = json.loads(opened.read("build_capture/bin/reader.json"))
        mode = opened.getinfo("build_capture/bin/build-capture-reader").external_attr >> 16
    assert record.keys() == {"zig"} and record["zig"].startswith("0.")
    assert mode & 0o111 == 0o111
    wanted = {path.relative_to(ROOT).as_posix() for path in (ROOT / "zig_bridge").rglob("*.zig") if path.parent.name != "build"}
    carried = {name.removeprefix("build_capture/") for name in names if name.startswith("build_capture/zig_bridge/")}
    assert len(carried) > 20 and carried == wanted
    assert "build_capture/sets/report/page.html" in names
    python = {path.relative_to(ROOT).as_posix() for path in (ROOT / "build_capture").rglob("*.py")}
    assert len(python) > 20 and python <= names
    assert not [name for name in names if name.startswith(("tests/", "kernels/", "examples/", "cmake/", "benchmarks/"))]


def test_wheel_names_no_folder_of_the_machine_that_built_it(wheel: Path, source: Path) -> None:
    checked = 0
    with zipfile.ZipFile(wheel) as opened:
        for name in opened.namelist():
            content = opened.read(name)
            checked += 1
            for folder in (source.parent, ROOT, Path(sys.prefix), Path.home()):
                assert len(folder.parts) < 3 or os.fsencode(folder) not in content, (name, folder)
    assert checked > 50


def test_installed_reader_runs_on_its_own(installed: Path, source: Path) -> None:
    reader = installed / "build_capture/bin/build-capture-reader"
    zig = json.loads((installed / "build_capture/bin/reader.json").read_text())["zig"]
    # An empty environment: a static program needs neither PATH nor libraries.
    result = subprocess.run([reader, "--version"], env={}, capture_output=True, text=True, timeout=60)
    assert result.stdout == f"build-capture-reader 0.1.0 (Zig {zig})\n", result.stderr
    program = reader.read_bytes()
    assert program.startswith(b"\x7fELF") and b"/ld-linux" not in program and b"/ld-musl" not in program
    answer = json.loads(run(reader, "declarations", FIXTURES / "forms/triton.zig", folder=installed))
    assert len(answer["launches"]) == 26


def run_apart(script: str, folder: Path) -> str:
    """What `script` prints with the modules of `folder`, and with this Python's packages but not their .pth files: an
    editable install of the project itself, as `make test` has one, would come first."""
    path = os.pathsep.join([str(folder), sysconfig.get_path("purelib")])
    command = [sys.executable, "-S", "-c", script]
    result = subprocess.run(command, cwd=folder, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_installed_package_finds_its_own_reader_and_sources(installed: Path) -> None:
    script = (
        "from pathlib import Path; from build_capture.zig import Zig, find_reader, zig_sources; import json, build_capture.zig as zig\n"
        "version = json.loads((zig.PACKAGE / 'bin/reader.json').read_text())['zig']\n"
        "print(zig_sources()); print(find_reader(None, Zig(('none',), version), Path('unused')))"
    )
    package = installed / "build_capture"
    assert run_apart(script, installed).splitlines() == [str(package / "zig_bridge"), str(package / "bin/build-capture-reader")]


def test_installed_package_is_found_by_cmake(installed: Path, tmp_path: Path) -> None:
    script = "import sys; from build_capture.entry import main; sys.argv = ['build-capture', '--cmake-dir']; main()"
    folder = run_apart(script, installed).strip()
    assert folder == str(installed / "build_capture/cmake")
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.26)\nproject(probe LANGUAGES NONE)\nfind_package(TritonCapture 0.1 REQUIRED)\nmessage(STATUS \"at ${TRITON_CAPTURE_COMMAND}\")\n"
    )
    given = [f"-DTritonCapture_DIR={folder}", f"-DTRITON_CAPTURE_PYTHON={sys.executable}"]
    printed = run(sys.executable, "-m", "cmake", "-S", ".", "-B", "build", "-G", "Ninja", *given, folder=tmp_path)
    assert f"at {sys.executable};{installed / 'build_capture'}" in printed


def test_editable_install_runs_from_the_source_tree(source: Path, tmp_path: Path) -> None:
    tree = tmp_path / "e f"
    shutil.copytree(source, tree)
    name = run(sys.executable, "-c", HOOK, "build_editable", tmp_path / "wheel", folder=tree).splitlines()[-1]
    site = tmp_path / "site"
    with zipfile.ZipFile(tmp_path / "wheel" / name) as opened:
        opened.extractall(site)
    script = f"import site; site.addsitedir({str(site)!r}); from build_capture.zig import zig_sources; print(zig_sources())"
    assert run_apart(script, site).strip() == str(tree / "zig_bridge")


def test_build_without_zig_says_what_is_missing(source: Path, tmp_path: Path) -> None:
    probe = 'list(APPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_SOURCE_DIR}")\nfind_package(Zig 99 REQUIRED)\n'
    (tmp_path / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.26)\nproject(probe LANGUAGES NONE)\n" + probe)
    shutil.copy(source / "cmake/FindZig.cmake", tmp_path)
    fake = tmp_path / "zig"
    for script, what in (("echo 0.15.2", 'Found unsuitable version "0.15.2"'), ("exit 3", "Reason given by package: put zig on PATH")):
        fake.write_text(f"#!/bin/sh\n{script}\n")
        fake.chmod(0o755)
        command = [sys.executable, "-m", "cmake", "-S", ".", "-B", f"build {len(what)}", "-G", "Ninja", f"-DZIG_EXECUTABLE={fake}"]
        result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert result.returncode != 0
        assert what in " ".join(result.stderr.split()), result.stderr
