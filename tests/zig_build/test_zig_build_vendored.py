"""Sets that are kept in the consumer's tree: used without Python, refused when the sources outran them, refreshed in place."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.zig_build.fake_capture import sources, write_set
from tests.zig_build.project import Project


@pytest.fixture
def kept(project: Project) -> Iterator[Path]:
    """A set in the project's tree, in a folder whose name holds a space; the project's files are put back after the test."""
    folder = project.folder / "vendored sets" / "sm121"
    write_set(folder, "kept", "sm_121", sources(project.folder))
    yield folder
    for path in folder.parent.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    shutil.rmtree(folder.parent)
    project.write()


def strict(project: Project) -> list[str]:
    """Lets a Zig that keeps the configured graph refuse whatever it cannot track."""
    return ["--cache-poison=disallowed"] if project.keeps_its_graph else []


def test_r52_kept_set_is_used_read_only_without_python_and_logged(project: Project, kept: Path) -> None:
    before = project.starts()
    for path in (kept, kept / "cubins", kept / "aot.json"):
        path.chmod(path.stat().st_mode & 0o555)
    for form in (str(kept), "./vendored sets/../vendored sets/sm121/"):
        result = project.run("install", "test", "verify-set", f"-Dcapture-set={form}", f"-Dcapture-python={project.folder}/absent/python", *strict(project))
        assert result.returncode == 0, result.stdout
        assert f"{form}: sm_121, 1 entry, 1 cubin" in result.stdout and "digest " in result.stdout
        assert "2 rounds, 2 launches, 1 specializations: all captured" in result.stdout
        assert "warning" not in result.stdout and "failed command" not in result.stdout
    assert project.starts() == before
    assert json.loads((project.installed() / "aot.json").read_text(encoding="utf-8"))["generator"] == "kept"


def test_changed_sources_make_a_kept_set_stale(project: Project, kept: Path) -> None:
    changed = ("capture.zon", "src/triton.zig", "src/rounds.zig")
    for name in changed:
        path = project.folder / name
        path.write_text(path.read_text(encoding="utf-8") + "// An edit.\n", encoding="utf-8")
    shutil.rmtree(project.folder / "kernels")
    gone = "the set was made from it, and it is not there (FileNotFound)"
    said = [*((name, "it changed since the set was captured") for name in changed), ("kernels/copy.py", gone)]
    for step in ("install", "test"):
        result = project.run(step, f"-Dcapture-set={kept}")
        assert result.returncode != 0, result.stdout
        for name, what in said:
            assert f"{name}: error: {what}; capture again (-Dcapture=true), or go on with -Dcapture-set-stale=warn" in result.stdout
    result = project.run("install", f"-Dcapture-set={kept}", "-Dcapture-set-stale=warn")
    assert result.returncode == 0, result.stdout
    for name, what in said:
        assert f"{name}: warning: {what}" in result.stdout


def test_set_that_records_no_sources_is_taken_with_a_warning(project: Project, kept: Path) -> None:
    write_set(kept, "of another tool", "sm_121")
    result = project.run("test", f"-Dcapture-set={kept}")
    assert result.returncode == 0, result.stdout
    assert "warning: the set does not record what it was made from, so whether it is stale is not checked" in result.stdout


def refresh(project: Project, folder: Path | str, *steps: str) -> str:
    """Build with a capture that refreshes the set in `folder`; it has to succeed."""
    return project.capture(f"-Dcapture-set={folder}", *strict(project), *steps)


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Each file's bytes and time by name."""
    return {path.relative_to(folder).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()}


def test_capture_refreshes_a_kept_set_only_when_something_changed(project: Project, kept: Path) -> None:
    stray = kept / "cubins" / "4567.cubin"
    stray.write_bytes(b"of an earlier kernel")
    assert f"{kept}: refreshed" in refresh(project, kept)
    files = contents(kept)
    assert sorted(files) == ["aot.json", "cubins/0123abcd.cubin"]
    assert json.loads(files["aot.json"][0])["generator"] == "first"
    starts = project.starts()
    assert "refreshed" not in refresh(project, kept)
    assert project.starts() == starts and contents(kept) == files
    # A damaged set is put right without Python, and an edit reaches it.
    (kept / "cubins" / "0123abcd.cubin").write_bytes(b"damaged")
    assert "refreshed" in refresh(project, kept)
    assert project.starts() == starts and {name: data for name, (data, _) in contents(kept).items()} == {name: data for name, (data, _) in files.items()}
    (project.folder / "dependency.txt").write_text("second", encoding="utf-8")
    assert "refreshed" in refresh(project, kept)
    assert json.loads((kept / "aot.json").read_text(encoding="utf-8"))["generator"] == "second"
    assert [path.name for path in kept.parent.iterdir()] == ["sm121"], "a leftover"
    # What it refreshed is fresh.
    result = project.run("test", f"-Dcapture-set={kept}")
    assert result.returncode == 0 and "warning" not in result.stdout, result.stdout


def test_capture_makes_a_kept_set_where_there_is_none(project: Project, kept: Path) -> None:
    for form in (str(kept.parent / "new" / "sm121"), "vendored sets/relative"):
        assert f"{form}: refreshed" in refresh(project, form)
        assert sorted(contents(project.folder / form)) == ["aot.json", "cubins/0123abcd.cubin"]


def test_folder_that_is_no_set_is_not_refreshed(project: Project, kept: Path) -> None:
    (kept / "notes.txt").write_text("mine", encoding="utf-8")
    before = contents(kept)
    result = project.run("-Dcapture=true", f"-Dcapture-python={project.folder}/bin/python", f"-Dcapture-set={kept}")
    assert result.returncode != 0
    assert f"{kept}: error: notes.txt is no part of a set, so this folder is left as it is" in result.stdout
    assert contents(kept) == before
    file = kept / "notes.txt"
    result = project.run("-Dcapture=true", f"-Dcapture-python={project.folder}/bin/python", f"-Dcapture-set={file}")
    assert result.returncode != 0 and f"{file}: error: NotDir" in result.stdout, result.stdout


def test_failing_capture_leaves_a_kept_set_as_it_is(project: Project, kept: Path) -> None:
    before = contents(kept)
    (project.folder / "dependency.txt").write_text("fail", encoding="utf-8")
    result = project.run("-Dcapture=true", f"-Dcapture-python={project.folder}/bin/python", f"-Dcapture-set={kept}")
    assert result.returncode != 0 and contents(kept) == before


def test_missing_folder_is_named(project: Project) -> None:
    result = project.run("test", "-Dcapture-set=absent/set")
    assert result.returncode != 0
    assert "check the files of -Dcapture-set=absent/set" in result.stdout
    assert "absent/set: error: there is no such folder (FileNotFound); name the folder of a set\n" in result.stdout


def test_two_targets_with_one_kept_set_are_refused(project: Project, kept: Path) -> None:
    result = project.run("install", "-Dcapture=true", "-Dcapture-target=sm_121,sm_90", f"-Dcapture-set={kept}")
    assert result.returncode != 0
    assert "-Dcapture-set is one set, for one target; expected one -Dcapture-target, found 2" in result.stdout
