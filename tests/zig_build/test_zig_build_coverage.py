"""What the test step says: covered, not covered, not captured, and no set."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.zig_build.fake_capture import write_set
from tests.zig_build.project import ROOT, Project


def test_r48_not_captured_is_a_visible_skip(project: Project) -> None:
    for _ in range(2):  # A second build must not hide it in a cache.
        result = project.run("test", "--summary", "all")
        assert result.returncode == 0, result.stdout
        assert "not captured: pass -Dcapture=true" in result.stdout
        assert "1 skipped" in result.stdout


def test_capture_step_without_capture_fails(project: Project) -> None:
    result = project.run("capture")
    assert result.returncode != 0
    assert "nothing is captured; expected -Dcapture=true or -Dcapture-set=DIR" in result.stdout


def test_missing_variant_fails_the_test_step(project: Project) -> None:
    (project.folder / "dependency.txt").write_text("unaligned", encoding="utf-8")
    result = project.run("test", "-Dcapture=true", f"-Dcapture-python={project.folder}/bin/python")
    assert result.returncode != 0
    assert "_copy" in result.stdout
    assert "zig build -Dcapture=true -Dparallel=1 -Dwindow-rows=1" in result.stdout


def test_finished_set_starts_no_python(project: Project, tmp_path: Path) -> None:
    write_set(tmp_path / "set", "finished", "sm_90")
    before = project.starts()
    result = project.run(
        "install",
        "test",
        f"-Dcapture-python={project.folder}/bin/python",
        f"-Dcapture-set={tmp_path}/set",
        "-Dcapture-target=sm_90",
        "--summary",
        "all",
    )
    assert result.returncode == 0, result.stdout
    assert "2 rounds, 2 launches, 1 specializations: all captured" in result.stdout
    # What a passing test prints is no failure.
    assert "failed command" not in result.stdout
    assert project.starts() == before
    assert json.loads((project.installed("sm90") / "aot.json").read_text(encoding="utf-8"))["generator"] == "finished"


def test_r48_folder_without_a_manifest_fails(project: Project, tmp_path: Path) -> None:
    for steps in (["test"], ["install"]):
        result = project.run(*steps, f"-Dcapture-set={tmp_path}")
        assert result.returncode != 0
        assert f"{tmp_path}: error: there is no aot.json, so this is no set, or not all of it" in result.stdout


def test_set_for_another_target_fails(project: Project, tmp_path: Path) -> None:
    write_set(tmp_path / "set", "finished", "sm_90")
    result = project.run("test", f"-Dcapture-set={tmp_path}/set", "-Dcapture-target=sm_121")
    assert result.returncode != 0
    assert f"{tmp_path}/set: error: have sm90, need sm121; name the folder of another set, or say -Dcapture-target=sm_90\n" in result.stdout


def test_set_without_a_cubin_or_with_a_changed_one_fails(project: Project, tmp_path: Path) -> None:
    write_set(tmp_path / "set", "finished", "sm_121")
    manifest = tmp_path / "set" / "aot.json"
    document = json.loads(manifest.read_text(encoding="utf-8"))
    cubin = tmp_path / "set" / "cubins" / f"{document['kernels'][0]['hash']}.cubin"
    cubin.unlink()
    result = project.run("test", f"-Dcapture-set={tmp_path}/set")
    assert result.returncode != 0
    assert f"{cubin}: error: it is missing; aot.json lists it for _copy" in result.stdout
    cubin.write_text("changed")
    document["kernels"][0]["sha256"] = "0" * 64
    manifest.write_text(json.dumps(document), encoding="utf-8")
    result = project.run("install", f"-Dcapture-set={tmp_path}/set")
    assert result.returncode != 0
    assert f"{cubin}: error: its bytes are not those that aot.json records for _copy" in result.stdout


def test_set_without_its_cubins_is_not_installed(project: Project, tmp_path: Path) -> None:
    write_set(tmp_path / "set", "finished", "sm_121")
    shutil.rmtree(tmp_path / "set" / "cubins")
    for step in ("install", "test"):
        result = project.run(step, f"-Dcapture-set={tmp_path}/set", "-p", str(tmp_path / "prefix"))
        assert result.returncode != 0
        assert f"{tmp_path}/set/cubins/0123abcd.cubin: error: it is missing; aot.json lists it for _copy" in result.stdout
        assert "main.zig" not in result.stdout, "a stack trace"
    assert not (tmp_path / "prefix" / "share").exists()


def test_install_folder_that_cannot_be_made_is_named(project: Project, tmp_path: Path) -> None:
    write_set(tmp_path / "set", "finished", "sm_121")
    (tmp_path / "share").write_text("a file, not a folder")
    result = project.run("install", f"-Dcapture-set={tmp_path}/set", "-p", str(tmp_path))
    assert result.returncode != 0
    assert f"cannot be installed in {tmp_path}/share/tiny/cuda: NotDir" in result.stdout
    assert "install_set.zig:" not in result.stdout, "a stack trace"


def test_edited_sibling_is_read_again_with_a_finished_set(spaced: Project, tmp_path: Path) -> None:
    declarations = spaced.folder / "src" / "triton.zig"
    sibling = spaced.folder / "src" / "more.zig"
    declarations.write_text(declarations.read_text(encoding="utf-8") + 'pub const more = @import("more.zig");\n', encoding="utf-8")
    launch = 'pub fn {}(t: anytype) !void {{\n    try t.set.run(t.s, "{}", .{{ 1, 1, 1 }}, &.{{}}, &.{{}});\n}}\n'
    sibling.write_text("", encoding="utf-8")
    write_set(tmp_path / "set", "finished", "sm_121")
    assert spaced.run("test", f"-Dcapture-set={tmp_path}/set").returncode == 0
    for name in ("first", "second"):
        sibling.write_text(launch.format(name, f"_{name}"), encoding="utf-8")
        result = spaced.run("test", f"-Dcapture-set={tmp_path}/set")
        assert result.returncode != 0
        assert f"more.zig:2: error: the launch of _{name} in {name} is reached by no round" in result.stdout


@pytest.mark.parametrize("family", ["../up", "a/b", ".hidden", "", "a" * 65])
def test_family_that_leaves_its_folder_is_refused(zig: str, tmp_path: Path, family: str) -> None:
    """Zig compiles the same profile type that `build.zig` does; a whole build for each name would take minutes."""
    profile = f'.{{ .family = "{family}", .declarations = "d.zig", .kernels = "kernels", .target = "sm_121", .limits = .{{ .parallel = 1, .window_rows = 1, .prompt_rows = 1 }} }}'
    check_profile(zig, tmp_path, profile.replace(f'"{family}"', '"a.b_c-1"'), None)
    check_profile(zig, tmp_path, profile, f'the profile\'s .family is "{family}"; expected letters, digits, \'.\', \'_\' and \'-\'')


def check_profile(zig: str, folder: Path, profile: str, message: str | None) -> None:
    """Compile a program that reads the profile; it has to end with the message, or well."""
    (folder / "root.zig").write_text(
        f'const Profile = @import("Profile");\ntest {{\n    _ = comptime Profile.create({profile});\n}}\n', encoding="utf-8"
    )
    command = [zig, "test", "-fno-emit-bin", "--dep", "Profile", "-Mroot=root.zig", f"-MProfile={ROOT}/zig_bridge/build/Profile.zig", "--cache-dir", "cache"]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    if message is None:
        assert result.returncode == 0, result.stderr
    else:
        assert result.returncode != 0
        assert message in result.stderr


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("-Dparallel=0", "-Dparallel is 0; expected 1 to 1024; try -Dparallel=1"),
        ("-Dwindow-rows=4097", "-Dwindow-rows is 4097; expected 1 to 4096; try -Dwindow-rows=1"),
        ("-Dcapture-target=gb10", '"gb10" is not a target; expected sm_ and a number, or native; try sm_121'),
        ("-Dcapture-target=sm_90,sm_90", "-Dcapture-target names sm_90 twice"),
        ("-Dcapture-policy=totl", "-Dcapture-policy: expected one of exact, compact, total"),
    ],
)
def test_wrong_option_is_refused_by_name(project: Project, option: str, message: str) -> None:
    result = project.run("-Dcapture=true", option)
    assert result.returncode != 0
    assert message in result.stdout
