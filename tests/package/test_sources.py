"""A set that is kept beside its sources and fell behind them is told, with the file that changed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from build_capture.errors import CaptureError, Exit
from build_capture.package.provenance import source_hashes
from build_capture.package.sources import check_sources
from build_capture.package.verify import verify
from build_capture.zig import find_reader, find_zig
from tests.families.conftest import ZIG_VARIABLES, zig_of
from tests.families.tiny import write_tiny
from tests.package.damage import CUBIN, edit_provenance, edit_top
from tests.package.harness import command, refusal
from tests.package.sample import write_sample


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reader of profiles."""
    return find_reader(None, find_zig(zig_of(ZIG_VARIABLES[0])), tmp_path_factory.mktemp("cache"))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A family's sources, and beside them in `set` the sample as if captured from them."""
    folder = tmp_path / "tiny"
    write_tiny(folder, "zig", tmp_path)
    sources = {
        "profile": source_hashes([folder / "capture.zon"], folder),
        "declarations": source_hashes([folder / "triton.zig"], folder),
        "kernels": source_hashes([folder / "kernels/tiny.py"], folder / "kernels"),
    }
    write_sample(folder / "set", family="tiny", sources=sources)
    return folder


def stale(project: Path, reader: Path) -> str:
    """What comparing says of a set that is whole, and behind its sources."""
    with pytest.raises(CaptureError) as caught:
        check_sources(verify(project / "set").sets, project / "capture.zon", reader)
    assert caught.value.code == Exit.NOT_COVERED
    return str(caught.value)


def test_r34_five_drifts_of_a_vendored_set_have_five_messages(project: Path, reader: Path, tmp_path: Path) -> None:
    assert check_sources(verify(project / "set").sets, project / "capture.zon", reader) == 3
    kernel = project / "kernels/tiny.py"
    kernel.write_text(kernel.read_text() + "# A comment.\n")
    said = [stale(project, reader)]
    assert f"{kernel}: error: it is not the file that the set was captured from; capture anew" in said[0]
    drifts = [
        lambda copy: (copy / CUBIN).unlink(),
        lambda copy: (copy / "cubins/ff.cubin").touch(),
        lambda copy: edit_top(copy, target="sm_90"),
        lambda copy: edit_provenance(copy, line_info=True),
    ]
    for number, drift in enumerate(drifts):
        copy = tmp_path / str(number) / "set"
        shutil.copytree(project / "set", copy)
        drift(copy)
        said.append(refusal(copy).replace(str(copy), "set"))
    names = (str(kernel), f"set/{CUBIN}: error: it is missing", "set/cubins/ff.cubin", "set/aot.json: error: `target`", "set/aot.json: error: `line_info`")
    assert [[message for message in said if name in message] for name in names] == [[message] for message in said]


@pytest.mark.parametrize(
    ("name", "edit", "want"),
    [
        ("capture.zon", lambda path: path.write_text(path.read_text().replace("8192", "4096")), "it is not the file that the set was captured from"),
        ("triton.zig", lambda path: path.write_text(path.read_text() + "// A comment.\n"), "it is not the file that the set was captured from"),
        ("kernels/tiny.py", lambda path: path.unlink(), "the set was captured from it, and it is gone"),
    ],
)
def test_the_source_that_changed_is_named(project: Path, reader: Path, name: str, edit: object, want: str) -> None:
    edit(project / name)  # type: ignore[operator]
    assert f"{project / name}: error: {want}; capture anew" == stale(project, reader)


def test_a_set_that_records_no_sources_is_no_pass(project: Path, reader: Path) -> None:
    write_sample(project / "set", sources={})
    assert "error: it does not record the profile it was captured from, so nothing can be compared" in stale(project, reader)


def test_a_recorded_kernel_that_leaves_its_folder_is_not_opened(project: Path, reader: Path) -> None:
    write_sample(project / "set", sources={"profile": {"a": "b"}, "declarations": {"a": "b"}, "kernels": {"../../etc/passwd": "00"}})
    assert "error: it records a kernel '../../etc/passwd', which would leave its folder" in stale(project, reader)


def test_command_compares_with_sources(project: Path, reader: Path) -> None:
    tools = ("--zig", os.environ[ZIG_VARIABLES[0]], "--reader", reader)
    done = command("set", "--sources", "capture.zon", *tools, folder=project)
    assert done.returncode == 0 and done.stdout.splitlines()[-1] == "3 source files are those that it was captured from"
    (project / "triton.zig").write_text((project / "triton.zig").read_text() + "//\n")
    done = command("set", "--sources", "capture.zon", *tools, folder=project)
    assert (done.returncode, done.stderr) == (3, "triton.zig: error: it is not the file that the set was captured from; capture anew\n")
