"""The build backend: a consumer's `pip wheel .` captures, and the wheel tells where its set is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from build_capture.errors import CaptureError
from build_capture.package.backend_options import read_options
from build_capture.package.verify import verify
from build_capture.package.extend_wheel import add_entry_point, extend_wheel
from tests.families.conftest import ZIG_VARIABLES, zig_of
from tests.families.tiny import write_tiny

ROOT = Path(__file__).resolve().parents[2]

PYPROJECT = """[build-system]
requires = ["build-capture[backend]"]
build-backend = "build_capture.backend"

[project]
name = "tiny-engine"
version = "1.2"
scripts = {{ tiny = "tiny_engine:main" }}

[tool.scikit-build]
wheel.cmake = false
wheel.py-api = "py3"
wheel.packages = ["tiny_engine"]

[tool.build-capture]
{options}
"""


def write_consumer(folder: Path, options: str = "parallel = 16") -> Path:
    """A Python project with the tiny family; returns its folder."""
    write_tiny(folder, "", folder, parameters="rows: usize", arguments='aot.int("W", @intCast(rows))', domains=".rows = .{ 1, 2, 16 }, ", signature="W")
    (folder / "pyproject.toml").write_text(PYPROJECT.format(options=options))
    (folder / "tiny_engine").mkdir()
    (folder / "tiny_engine/__init__.py").write_text("def main() -> None:\n    print('tiny')\n")
    return folder


def pip_wheel(project: Path, *, ok: bool = True) -> str:
    """Build the consumer's wheel without isolation; returns all that was printed."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "pip", "wheel", ".", "--no-build-isolation", "--no-deps", "--no-index", "--wheel-dir", "wheels"]
    command += ["-C", f"build-capture.zig={zig_of(ZIG_VARIABLES[0])}"]
    finished = subprocess.run(command, cwd=project, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    assert (finished.returncode == 0) is ok, finished.stdout
    return finished.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The consumer's wheel."""
    project = write_consumer(tmp_path_factory.mktemp("consumer") / "a b")
    pip_wheel(project)
    (built,) = (project / "wheels").iterdir()
    return built


def test_wheel_holds_the_set_and_a_record_of_every_file(wheel: Path) -> None:
    assert wheel.name == "tiny_engine-1.2-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as opened:
        names = opened.namelist()
        record = [line.split(",")[0] for line in opened.read("tiny_engine-1.2.dist-info/RECORD").decode().splitlines()]
        manifest = json.loads(opened.read("tiny_engine_sets/share/tiny/cuda/sm121/aot.json"))
    assert sorted(record) == sorted(names) and len(set(names)) == len(names)
    assert len(manifest["kernels"]) == 3 and manifest["provenance"]["limits"]["parallel"] == 16
    cubins = {f"tiny_engine_sets/share/tiny/cuda/sm121/cubins/{kernel['hash']}.cubin" for kernel in manifest["kernels"]}
    assert {name for name in names if name.endswith(".cubin")} == cubins
    (verified,) = verify(wheel).sets
    assert verified.packaged and verified.cubins == 3


def test_installed_wheel_tells_where_its_set_is(wheel: Path, tmp_path: Path) -> None:
    home = tmp_path / "e f"
    venv.create(home, with_pip=False, symlinks=True)
    python = home / "bin/python"
    (site,) = (home / "lib").glob("python*/site-packages")
    install = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--target", site, wheel]
    subprocess.run(install, check=True, capture_output=True)
    script = "from importlib.metadata import entry_points as e; (p,) = e(group='build_capture.sets'); print(p.name, p.load()('sm_121'))"
    want = site / "tiny_engine_sets/share/tiny/cuda/sm121"
    assert (want / "aot.json").is_file()

    def ask(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([python, *arguments], capture_output=True, text=True, check=False)

    assert subprocess.run([site / "bin/tiny"], capture_output=True, text=True, check=True, env={"PYTHONPATH": str(site)}).stdout == "tiny\n"
    assert ask("-c", script).stdout == f"tiny_engine_sets {want}\n"
    assert ask("-m", "tiny_engine_sets").stdout == f"{want}\n"
    check = [sys.executable, ROOT / "build_capture", "check", want, "--profile", wheel.parents[1] / "capture.zon", "--parallel", "16"]
    checked = subprocess.run([*check, "--zig", zig_of(ZIG_VARIABLES[0])], capture_output=True, text=True, check=False)
    assert checked.returncode == 0 and "covered" in checked.stdout, checked.stdout + checked.stderr
    other = ask("-m", "tiny_engine_sets", "sm_90")
    assert (other.returncode, other.stderr) == (1, "error: have sm_121, need sm_90\n")


def test_config_settings_come_before_the_project_s(tmp_path: Path) -> None:
    project = write_consumer(tmp_path / "c d", options="targets = ['sm_121']\njobs = 2")
    given = {"build-capture.targets": "sm_90,sm_121", "build-capture.parallel": "2", "wheel.py-api": "py3"}
    options, rest = read_options(project, given)
    assert (options.targets, options.parallel, options.jobs, options.module) == (["sm_90", "sm_121"], 2, 2, "tiny_engine_sets")
    assert rest == {"wheel.py-api": "py3"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("paralel = 2", "unknown option 'paralel' of build-capture; did you mean parallel or profile?"),
        ("parallel = 0", "parallel is 0; expected 1 to 1024"),
        ("parallel = 'two'", "Expected `int | null`, got `str` - at `$.parallel`"),
        ("policy = 'small'", "Invalid enum value 'small' - at `$.policy`"),
        ("targets = []", "targets is empty; expected at least one, such as sm_121"),
        ("module = 'a-b'", "module 'a-b' is no name of a Python package"),
    ],
)
def test_options_that_are_wrong_are_named(tmp_path: Path, options: str, message: str) -> None:
    project = write_consumer(tmp_path / "tiny", options)
    with pytest.raises(CaptureError) as caught:
        read_options(project, None)
    assert message in str(caught.value) and str(caught.value).startswith(f"{project / 'pyproject.toml'}: error: ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[project", "it cannot be read: "),
        ("tool = 3", "it cannot be read: Expected `object`, got `int` - at `$.tool`"),
        ("[tool]\nbuild-capture = 3", "at `$.tool.build-capture`"),
        ("[tool.build-capture]\nparallel = 2", '[project] has no name for the package of the sets to follow; name it: `module = "my_engine_sets"`'),
        (None, "No such file"),
    ],
)
def test_pyproject_that_cannot_be_read_is_told_in_one_line(tmp_path: Path, text: str | None, message: str) -> None:
    if text is not None:
        (tmp_path / "pyproject.toml").write_text(text)
    with pytest.raises(CaptureError) as caught:
        read_options(tmp_path, None)
    assert str(caught.value).startswith(f"{tmp_path / 'pyproject.toml'}: error: ") and message in str(caught.value)


def test_kernel_that_does_not_compile_leaves_no_wheel(tmp_path: Path) -> None:
    project = write_consumer(tmp_path / "tiny")
    kernel = project / "kernels/tiny.py"
    kernel.write_text(kernel.read_text().replace("static_assert(True)", "static_assert(False)"))
    printed = pip_wheel(project, ok=False)
    assert "_tiny" in printed and "does not compile" in printed and "Traceback" not in printed
    assert not list(project.rglob("*.whl"))


def test_add_entry_point_keeps_what_is_there() -> None:
    before = "[console_scripts]\nTiny = tiny_engine:main\n"
    after = add_entry_point(before, ("tiny", "tiny_sets:folder"))
    assert "Tiny = tiny_engine:main" in after and "[build_capture.sets]\ntiny = tiny_sets:folder" in after
    assert add_entry_point(after, ("tiny", "tiny_sets:folder")) == after


def test_extend_wheel_gives_the_same_bytes_every_time(tmp_path: Path) -> None:
    wheels = []
    for number in range(2):
        wheel = tmp_path / f"{number}.whl"
        with zipfile.ZipFile(wheel, "w") as made:
            made.writestr(zipfile.ZipInfo("tiny.dist-info/RECORD"), "")
        extend_wheel(wheel, {"b": b"2", "a": b"1"}, ("tiny", "tiny:folder"))
        wheels.append(wheel.read_bytes())
    assert wheels[0] == wheels[1]
