"""What `verify` takes, finds and answers."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from build_capture.errors import CaptureError, Exit
from build_capture.package.deb import unpack_deb
from build_capture.package.extend_wheel import extend_wheel
from build_capture.package.set_module import set_module
from build_capture.package.verify import verify
from build_capture.targets import parse_target
from tests.package.damage import CUBIN
from tests.package.harness import ROOT, SET, command, make, refusal, sample_package, unpacked_sample
from tests.package.sample import write_sample
from tests.package.wheels import of_another
from tests.sets.entries import CUBIN as OTHER_BYTES
from tests.sets.entries import of_another_tool

SM_121, SM_90 = parse_target("sm_121"), parse_target("sm_90")


def test_command_prints_the_digest_and_exits_3_for_damage(tmp_path: Path) -> None:
    set_folder = write_sample(tmp_path / "set")
    good = command("set", "--target", "sm_121", folder=tmp_path)
    digest = verify(set_folder).sets[0].digest
    assert (good.returncode, good.stderr) == (0, "")
    assert good.stdout == f"set: sm_121, 4 entries, 3 cubins, {verify(set_folder).sets[0].bytes:,} bytes, without a manifest\ndigest {digest}\n"
    answer = json.loads(command("set", "--json", folder=tmp_path).stdout)
    assert (answer["verified"]["kind"], answer["verified"]["sets"][0]["digest"], answer["sources"]) == ("folder", digest, None)
    (set_folder / CUBIN).unlink()
    bad = command("set", folder=tmp_path)
    assert (bad.returncode, bad.stdout) == (3, "")
    assert bad.stderr == f"set/{CUBIN}: error: it is missing; aot.json lists it for _add; copy, unpack or install it anew\n"
    assert command("nothing", folder=tmp_path).returncode == 2


def test_verify_loads_neither_triton_nor_torch(tmp_path: Path) -> None:
    package = sample_package(tmp_path, "tar.zst")
    script = f"import sys; from pathlib import Path; from build_capture.package.verify import verify; verify(Path({str(package)!r})); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert "build_capture.package.verify" in loaded and not {"triton", "torch"} & set(loaded)


@pytest.mark.parametrize("given", [".", "aot.json"])
def test_verify_takes_a_folder_and_its_aot_json(tmp_path: Path, given: str) -> None:
    assert verify(write_sample(tmp_path / "set") / given).kind == "folder"


@pytest.mark.parametrize("given", [".", "share", "share/sample", "share/sample/cuda"])
def test_verify_finds_the_sets_below_a_prefix(tmp_path: Path, given: str) -> None:
    unpacked_sample(tmp_path)
    verified = verify(tmp_path / "prefix" / given)
    assert (verified.kind, [one.folder for one in verified.sets]) == ("prefix", [str(tmp_path / "prefix" / SET)])


def test_r52_verify_passes_a_read_only_copy_and_writes_nothing(tmp_path: Path) -> None:
    folder = unpacked_sample(tmp_path)
    for path in [folder, *folder.rglob("*")]:
        path.chmod(stat.S_IRUSR | stat.S_IXUSR if path.is_dir() else stat.S_IRUSR)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    assert verify(folder).sets[0].packaged
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
    for path in (folder, folder / "cubins"):
        path.chmod(0o755)


def test_r51_verify_lists_the_targets_that_are_there_where_the_one_needed_is_not(tmp_path: Path) -> None:
    sm_90 = write_sample(tmp_path / "prefix/share/sample/cuda/sm90", 90)
    packages = make(tmp_path / "packages", sm_90).files
    for path in (tmp_path / "prefix", sm_90, *map(Path, packages)):
        assert "error: have sm90, need sm121; get the package for sm_121" in refusal(path, target=SM_121)
        assert verify(path, target=SM_90).sets[0].target == "sm_90"
    assert "have sm90, need sm121" in refusal(write_sample(tmp_path / "anything", 90), target=SM_121)


def test_r51_an_explicit_folder_is_taken_whatever_else_is_installed(tmp_path: Path) -> None:
    write_sample(tmp_path / "prefix/share/sample/cuda/sm90", 90)
    explicit = write_sample(tmp_path / "elsewhere", 121)
    (verified,) = verify(explicit, target=SM_121).sets
    assert (verified.folder, verified.target) == (str(explicit), "sm_121")


def test_verify_takes_a_folder_by_the_name_that_engines_follow(tmp_path: Path) -> None:
    unpacked_sample(tmp_path)
    (tmp_path / "store/share").mkdir(parents=True)
    (tmp_path / "prefix/share/sample").rename(tmp_path / "store/share/sample-1.0")
    (tmp_path / "prefix/share/sample").symlink_to(tmp_path / "store/share/sample-1.0")
    assert verify(tmp_path / "prefix" / SET).sets[0].packaged


def test_verify_refuses_a_folder_named_after_another_target(tmp_path: Path) -> None:
    folder = write_sample(tmp_path / "prefix/share/sample/cuda/sm121", 120)
    assert "error: the folder is for sm121, and its set for sm120" in refusal(folder)
    assert "error: the folder is for sm121, and its set for sm120" in refusal(tmp_path / "prefix", target=SM_121)


def test_verify_refuses_the_folder_of_another_app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unpacked_sample(tmp_path)
    (tmp_path / "prefix/share/sample").rename(tmp_path / "prefix/share/other")
    monkeypatch.chdir(tmp_path / "prefix/share/other/cuda")
    for path in (tmp_path / "prefix", Path("."), Path("sm121")):
        assert "sm121/manifest.json: error: `app` is sample, and the folder is other's; engines look below share/sample" in refusal(path)


def test_verify_wants_the_digest_that_is_asked_for(tmp_path: Path) -> None:
    folder = write_sample(tmp_path / "set")
    digest = verify(folder).sets[0].digest
    assert verify(folder, digest=digest[:12]).sets and verify(folder, digest=digest).sets
    assert f"error: have the digest {digest}, need {'01' * 32}" in refusal(folder, digest="01" * 32)
    for other in ("", digest[:11], digest + "0", "x" * 64):
        with pytest.raises(CaptureError, match="is no digest"):
            verify(folder, digest=other)


@pytest.mark.parametrize("folder", ["empty", "prefix/share/sample/cuda"])
def test_a_folder_without_a_set_is_no_pass(tmp_path: Path, folder: str) -> None:
    (tmp_path / folder).mkdir(parents=True)
    assert "error: it holds no captured set" in refusal(tmp_path / folder)


def test_an_empty_target_folder_is_no_pass(tmp_path: Path) -> None:
    (tmp_path / "share/sample/cuda/sm121").mkdir(parents=True)
    for path in (tmp_path, tmp_path / "share/sample/cuda/sm121"):
        assert "sm121: error: there is no aot.json" in refusal(path)


def test_verify_refuses_a_link_in_a_prefix_and_follows_the_one_it_is_given(tmp_path: Path) -> None:
    folder = write_sample(tmp_path / "set")
    cuda = tmp_path / "prefix/share/sample/cuda"
    cuda.mkdir(parents=True)
    (cuda / "sm121").symlink_to(folder)
    assert "error: it is a link or a file; a set is a folder" in refusal(tmp_path / "prefix")
    assert verify(cuda / "sm121").sets[0].cubins == 3


@pytest.mark.parametrize(("name", "want"), [("set.zip", "this is no package that is known"), ("nothing", "there is no such file or folder")])
def test_verify_says_what_it_takes(tmp_path: Path, name: str, want: str) -> None:
    (tmp_path / "set.zip").touch()
    with pytest.raises(CaptureError, match=want) as caught:
        verify(tmp_path / name)
    assert caught.value.code == Exit.INPUT


def test_verify_does_not_open_a_file_that_is_larger_than_any_package(tmp_path: Path) -> None:
    (tmp_path / "set.deb").touch()
    os.truncate(tmp_path / "set.deb", (1 << 30) + 1)
    assert "set.deb: error: it has 1073741825 bytes; a package has at most 1073741824" in refusal(tmp_path / "set.deb")


def test_verify_refuses_a_manifest_that_is_nested_too_deeply(tmp_path: Path) -> None:
    folder = unpacked_sample(tmp_path)
    (folder / "manifest.json").write_text('{"limits":' * 100000)
    assert "manifest.json: error: it is no manifest: maximum recursion" in refusal(folder)


def test_verify_passes_a_wheel_that_a_build_backend_put_a_set_into(tmp_path: Path) -> None:
    wheel = sample_package(tmp_path, "wheel")
    own = tmp_path / "consumer-1.0-py3-none-any.whl"
    own.write_bytes(of_another(wheel.read_bytes()))
    folder = write_sample(tmp_path / "another")
    files = {f"more/share/more/cuda/sm121/{path.relative_to(folder)}": path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    files["more/engine.so"] = b"\x7fELF"
    extend_wheel(own, files | {f"more/{name}": data for name, data in set_module("more").items()}, ("more", "more:folder"))
    assert "more/engine.so: error: it is an ELF outside of the sets" in refusal(own)
    native = own.rename(tmp_path / "consumer-1.0-py3-none-linux_aarch64.whl")
    assert [(one.packaged, one.target) for one in verify(native).sets] == [(False, "sm_121"), (True, "sm_121")]


def test_verify_passes_a_set_of_another_tool_and_says_so(tmp_path: Path) -> None:
    folder = write_sample(tmp_path / "set")
    document = of_another_tool(json.loads((folder / "aot.json").read_bytes()))
    (folder / "aot.json").write_text(json.dumps({"kernels": document["kernels"]}))
    with pytest.raises(CaptureError, match="the set does not say for which GPU it is"):
        verify(folder)
    (verified,) = verify(folder, target=SM_121).sets
    assert "another tool wrote this set: it records no seals" in verified.notes[0]
    (folder / CUBIN).write_bytes(OTHER_BYTES)
    assert f"{CUBIN}: error: its cubin is not an ELF" in refusal(folder, target=SM_121)


def test_verify_of_an_installed_deb(tmp_path: Path) -> None:
    unpack_deb(sample_package(tmp_path, "deb").read_bytes(), "deb", tmp_path)
    assert verify(tmp_path / "data/usr", target=SM_121).sets[0].packaged
