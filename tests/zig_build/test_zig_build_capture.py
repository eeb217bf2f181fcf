"""What `zig build -Dcapture=true` starts, when, and what it installs."""

import json
import os
import shutil

from tests.zig_build.project import Project


def test_capture_gets_the_command_line_of_the_tool(project: Project) -> None:
    project.capture("-Dparallel=1", "-Dcapture-jobs=3", "-Dcapture-policy=compact", f"-Dcapture-ptxas={project.folder}/dependency.txt")
    arguments = project.starts()[-1]
    options = dict(zip(arguments[2::2], arguments[3::2], strict=True))
    assert arguments[0].endswith("build_capture/__main__.py") and arguments[1] == "capture"
    assert {name: options[name] for name in ("--mode", "--policy", "--target", "--parallel", "--window-rows", "--jobs")} == {
        "--mode": "compile",
        "--policy": "compact",
        "--target": "sm_121",
        "--parallel": "1",
        "--window-rows": "1",
        "--jobs": "3",
    }
    assert options["--profile"].endswith("capture.zon")
    assert os.path.samefile(options["--zig"], os.path.realpath(options["--zig"]))
    assert options["--ptxas"].endswith("dependency.txt")
    assert options["--reader"].endswith("build-capture-reader")
    assert options["--cache-dir"] == str(project.folder / ".zig-cache" / "build-capture")
    assert set(options) - {"--out", "--depfile"} == {
        "--profile", "--zig", "--reader", "--cache-dir", "--mode", "--policy", "--ptxas", "--target", "--parallel", "--window-rows", "--jobs",
    }  # fmt: skip


def test_set_installs_with_manifest_and_cubins_only(project: Project) -> None:
    project.capture()
    files = [path.relative_to(project.installed()) for path in project.installed().rglob("*") if path.is_file()]
    assert sorted(map(str, files)) == ["aot.json", "cubins/0123abcd.cubin"]


def test_successful_capture_is_not_called_a_failed_command(project: Project) -> None:
    (project.folder / "dependency.txt").write_text("another", encoding="utf-8")
    before = len(project.starts())
    result = project.run("install", "-Dcapture=true", f"-Dcapture-python={project.folder}/bin/python")
    assert result.returncode == 0 and result.stdout == "", result.stdout
    assert len(project.starts()) == before + 1


def test_cubin_of_an_earlier_set_is_removed(project: Project) -> None:
    project.capture()
    stray = project.installed() / "cubins" / "4567.cubin"
    stray.write_bytes(b"")
    project.capture()
    assert not stray.exists()


def test_second_build_starts_no_python(project: Project) -> None:
    project.capture()
    before = project.starts()
    output = project.capture("--summary", "all")
    assert project.starts() == before
    assert "capture sm_121 cached" in output, output


def test_edit_of_a_file_in_the_depfile_captures_again(project: Project) -> None:
    check_edit_is_noticed(project)


def test_spaced_folder_captures_and_notices_an_edit(spaced: Project) -> None:
    spaced.capture()
    assert len(spaced.starts()) == 1
    spaced.capture()
    assert len(spaced.starts()) == 1
    check_edit_is_noticed(spaced)
    shutil.rmtree(spaced.folder / ".zig-cache")
    shutil.rmtree(spaced.folder / "zig-out")
    spaced.capture()
    assert len(spaced.starts()) == 3
    assert (spaced.installed() / "aot.json").is_file()


def check_edit_is_noticed(project: Project) -> None:
    """The edited file is no argument of the step, and what it says reaches the installed set."""
    project.capture()
    before = len(project.starts())
    text = f"edit {before}"
    (project.folder / "dependency.txt").write_text(text, encoding="utf-8")
    project.capture()
    assert len(project.starts()) == before + 1
    assert json.loads((project.installed() / "aot.json").read_text(encoding="utf-8"))["generator"] == text


def test_r38_deleted_manifest_is_restored_without_python(project: Project) -> None:
    project.capture()
    before = project.starts()
    (project.installed() / "aot.json").unlink()
    project.capture()
    assert (project.installed() / "aot.json").is_file()
    assert project.starts() == before


def test_failing_capture_fails_the_build_and_keeps_the_installed_set(project: Project) -> None:
    project.capture()
    manifest = project.installed() / "aot.json"
    before = manifest.read_bytes()
    (project.folder / "dependency.txt").write_text("fail", encoding="utf-8")
    result = project.run("-Dcapture=true", f"-Dcapture-python={project.folder}/bin/python")
    assert result.returncode != 0
    assert "kernels/tiny.py:3:1: error: _copy does not compile" in result.stdout
    assert manifest.read_bytes() == before


def test_two_targets_install_two_sets(project: Project) -> None:
    output = project.capture("-Dcapture-target=sm_121,sm_90", "--summary", "all")
    for folder, target in (("sm121", "sm_121"), ("sm90", "sm_90")):
        manifest = json.loads((project.installed(folder) / "aot.json").read_text(encoding="utf-8"))
        assert manifest["target"] == target
        assert f"check the coverage of {target} success" in output


def test_native_target_installs_as_what_the_set_names_and_asks_anew_in_every_build(project: Project) -> None:
    shutil.rmtree(project.installed("sm90"), ignore_errors=True)
    native = ("-Dcapture-target=native", "-Dcapture-mode=auto")
    output = project.capture(*native, "--summary", "all")
    assert "check the coverage of native success" in output
    arguments = project.starts()[-1]
    assert arguments[arguments.index("--mode") + 1] == "auto" and arguments[arguments.index("--target") + 1] == "native"
    assert json.loads((project.installed("sm90") / "aot.json").read_text(encoding="utf-8"))["target"] == "sm_90"
    assert not project.installed("native").exists()
    before = len(project.starts())
    project.capture(*native)
    assert len(project.starts()) == before + 1


def test_native_stands_alone(project: Project) -> None:
    result = project.run("install", "-Dcapture=true", "-Dcapture-target=native,sm_90", f"-Dcapture-python={project.folder}/bin/python")
    assert result.returncode != 0 and "native stands alone; expected no other target beside it" in result.stdout


def test_report_prints_also_when_nothing_changed(project: Project) -> None:
    project.capture()
    before = project.starts()
    result = project.run("capture-report", "-Dcapture=true", f"-Dcapture-python={project.folder}/bin/python")
    assert result.returncode == 0 and "captured sm_121 from first" in result.stdout, result.stdout
    assert project.starts() == before


def test_python_by_name_is_started_as_path_has_it(project: Project) -> None:
    # As in a virtual environment, whose Python is a link: at the link's end there is another Python's environment.
    folder = project.folder / "environment"
    folder.mkdir()
    behind = project.python("behind-a-link")
    behind.write_text(behind.read_text().replace("exec", f'[ "$0" = "{folder}/linked" ] || exit 9\nexec', 1))
    (folder / "linked").symlink_to(behind)
    result = project.run("-Dcapture=true", "-Dcapture-python=linked", path=f"{folder}:{os.environ['PATH']}")
    assert result.returncode == 0, result.stdout
    assert len(project.starts("behind-a-link")) == 1


def test_python_by_name_follows_path(project: Project) -> None:
    project.python("fake-python")
    other = project.folder / "other"
    other.mkdir(exist_ok=True)
    program = project.python("other-python")
    program.rename(other / "fake-python")
    arguments = ["-Dcapture=true", "-Dcapture-python=fake-python"]
    if project.keeps_its_graph:
        arguments.append("--cache-poison=disallowed")
    for folder in (project.folder / "bin", other):
        result = project.run(*arguments, path=f"{folder}:{os.environ['PATH']}")
        assert result.returncode == 0, result.stdout
    assert len(project.starts("fake-python")) == 1
    assert len(project.starts("other-python")) == 1


def test_python_that_is_not_in_path_is_named_with_its_option(project: Project) -> None:
    result = project.run("-Dcapture=true", "-Dcapture-python=absent-python")
    # Zig 0.17 looks it up itself.
    named = "find program absent-python" if project.keeps_its_graph else "-Dcapture-python=absent-python: there is no such program in PATH; expected a Python"
    assert result.returncode != 0 and named in result.stdout, result.stdout
