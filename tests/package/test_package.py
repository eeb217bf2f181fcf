"""What is packaged: the same bytes wherever it is made, the same files in every format, and nothing but whole sets."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zstandard

from build_capture.errors import CaptureError, Exit
from build_capture.package.ar import read_ar
from build_capture.package.deb import unpack_deb
from build_capture.package.verify import verify
from build_capture.sets.pack import write_set
from build_capture.sets.read import read_set
from build_capture.sets.seal import sealed
from tests.package.damage import DAMAGES
from tests.package.harness import ROOT, SET, make, sample_package
from tests.package.sample import ADD, COPY, COPY_ANY, sample_cubins, write_sample
from tests.sets.entries import of_another_tool

NOBODY = 65534

PACKAGE_AS = """
import os, sys
import build_capture.commands.package, build_capture.package.make, encodings.cp437
from build_capture.cli import run
user = int(sys.argv.pop(1))
# All is imported by now: another user need not be able to read this Python. Only root can become one.
if user != os.geteuid() == 0:
    os.setgroups([]), os.setgid(user), os.setuid(user)
sys.exit(run())
"""
"""Runs the command line as the user that the first argument names."""


def archived(path: Path) -> dict[str, tarfile.TarInfo]:
    """The members of a tar.zst."""
    with tarfile.open(fileobj=io.BytesIO(zstandard.ZstdDecompressor().decompress(path.read_bytes()))) as archive:
        return {member.name: member for member in archive}


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A temporary folder that every user can reach; pytest's own are private."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        yield Path(name)


def packaged_elsewhere(folder: Path, *, umask: int, mode: int, seed: str, user: int) -> dict[str, bytes]:
    """Package a copy of the sample by the command line, in a process of its own; returns the packages."""
    set_folder = write_sample(folder / "a set")
    for path in [*set_folder.rglob("*.cubin"), set_folder / "aot.json"]:
        path.chmod(mode)
        os.utime(path, (mode, mode))
    if os.geteuid() == 0:
        for path in [folder, *folder.rglob("*")]:
            os.chown(path, user, user)
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT), "TZ": f"UTC{seed}"}
    command = [sys.executable, "-c", PACKAGE_AS, str(user), "package", "a set", "--out", "out", "--release", "1.2"]
    result = subprocess.run(command, cwd=folder, env=environment, umask=umask, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    made = sorted((folder / "out").iterdir())
    assert {path.stat().st_uid for path in made} == {user if os.geteuid() == 0 else os.geteuid()}
    return {path.name: path.read_bytes() for path in made}


def test_package_gives_the_same_bytes_in_another_folder_for_another_user(open_folder: Path) -> None:
    folders = [open_folder / "one", open_folder / "another one"]
    for folder in folders:
        folder.mkdir()
    first = packaged_elsewhere(folders[0], umask=0o022, mode=0o644, seed="0", user=os.geteuid())
    second = packaged_elsewhere(folders[1], umask=0o077, mode=0o700, seed="1", user=NOBODY)
    assert len(first) == 3 and first == second


def test_names_carry_app_target_and_digest(tmp_path: Path) -> None:
    packaged = make(tmp_path / "out", write_sample(tmp_path / "set"))
    short = packaged.digest[:12]
    assert [Path(file).name for file in packaged.files] == [
        f"sample-sm121-{short}.tar.zst",
        f"sample_cuda_sm121-1.2+sha{short}-py3-none-any.whl",
        f"sample-cuda-sm121_1.2+sha{short}_all.deb",
    ]


def test_archive_is_sorted_and_has_fixed_owners_modes_and_times(tmp_path: Path) -> None:
    members = archived(sample_package(tmp_path, "tar.zst"))
    assert list(members) == sorted(members)
    assert {(m.uid, m.gid, m.uname, m.gname, m.mtime) for m in members.values()} == {(0, 0, "root", "root", 315532800)}
    assert {m.mode for m in members.values() if m.isfile()} == {0o644} and {m.mode for m in members.values() if m.isdir()} == {0o755}
    names = {name.removeprefix(f"{SET}/") for name, member in members.items() if member.isfile()}
    assert names == {"LICENSE", "README.md", "aot.json", "manifest.json"} | {f"cubins/{x * 32}.cubin" for x in ("a1", "b2", "c3")}


def test_manifest_says_what_the_set_is_and_holds(tmp_path: Path) -> None:
    packaged = make(tmp_path / "out", write_sample(tmp_path / "set"), formats=("wheel",))
    with zipfile.ZipFile(packaged.files[0]) as wheel:
        files = {name.split(f"{SET}/")[1]: wheel.read(name) for name in wheel.namelist() if SET in name}
    manifest = json.loads(files.pop("manifest.json"))
    assert manifest["files"] == {name: {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)} for name, data in sorted(files.items())}
    assert (manifest["app"], manifest["target"], manifest["policy"], manifest["digest"]) == ("sample", "sm_121", "compact", packaged.digest)
    assert manifest["limits"] == {"parallel": 16, "window_rows": 4, "prompt_rows": 0}
    assert manifest["toolchain"] == {"triton": "3.7.1", "ptxas": "13.1.80"}
    assert manifest["sources"]["kernels"] == {"copy.py": "33" * 32} and manifest["packager"]["name"] == "build-capture"


def test_readme_reproduces_the_digest_with_coreutils(tmp_path: Path) -> None:
    packaged = make(tmp_path / "out", write_sample(tmp_path / "set"), formats=("deb",))
    unpack_deb(Path(packaged.files[0]).read_bytes(), "deb", tmp_path)
    folder = tmp_path / "data/usr" / SET
    text = (folder / "README.md").read_text()
    (line,) = (line.strip() for line in text.splitlines() if "sha256sum" in line)
    printed = subprocess.run(["sh", "-c", line], cwd=folder, capture_output=True, text=True, check=True).stdout
    assert printed == f"{packaged.digest}  -\n" and packaged.digest in text


def test_every_format_holds_the_same_files(tmp_path: Path) -> None:
    archive, wheel, deb = map(Path, make(tmp_path / "out", write_sample(tmp_path / "set"), licence=ROOT / "LICENSE").files)
    tar_names = {name for name, member in archived(archive).items() if member.isfile()}
    with zipfile.ZipFile(wheel) as opened:
        wheel_names = {name.removeprefix("sample_cuda_sm121/") for name in opened.namelist() if "/share/" in name}
        assert opened.read(f"sample_cuda_sm121/{SET}/LICENSE") == (ROOT / "LICENSE").read_bytes()
    deb_names = set(unpack_deb(deb.read_bytes(), "deb", tmp_path))
    assert len(tar_names) == 7
    assert tar_names == wheel_names == {name.removeprefix("usr/") for name in deb_names if not name.startswith("usr/share/doc")}
    assert deb_names - {f"usr/{name}" for name in tar_names} == {"usr/share/doc/sample-cuda-sm121/copyright"}


def test_several_targets_get_a_folder_each(tmp_path: Path) -> None:
    sets = [write_sample(tmp_path / "b", 121), write_sample(tmp_path / "a", 90)]
    packaged = make(tmp_path / "out", *sets)
    assert [Path(file).name.split(packaged.digest[:12])[0] for file in packaged.files] == [
        "sample-sm90-sm121-",
        "sample_cuda_sm90_sm121-1.2+sha",
        "sample-cuda-sm90-sm121_1.2+sha",
    ]
    for file in packaged.files:
        assert [one.target for one in verify(Path(file)).sets] == ["sm_121", "sm_90"]
    assert packaged.digest not in [one.digest for one in packaged.sets]


def test_a_packaged_set_can_be_packaged_again(tmp_path: Path) -> None:
    packaged = make(tmp_path / "out", write_sample(tmp_path / "set"), formats=("deb",))
    before = Path(packaged.files[0]).read_bytes()
    unpack_deb(before, "deb", tmp_path)
    again = make(tmp_path / "again", tmp_path / "data/usr" / SET, formats=("deb",))
    assert Path(again.files[0]).read_bytes() == before


@pytest.mark.parametrize(
    ("changes", "want"),
    [
        ({"app": "A/B"}, "error: the app 'A/B' is no name for a package"),
        ({"app": ".."}, "error: the app '..' is no name for a package"),
        ({"release": "1.x"}, "error: the release '1.x' is no version"),
        ({"maintainer": "me\nPre-Depends: x"}, "is no field of a Debian package; expected one line"),
        ({"maintainer": "\udcff"}, "is no field of a Debian package; expected one line"),
        ({"licence": Path("/nonexistent")}, "/nonexistent: error: cannot read the licence"),
    ],
)
def test_package_refuses_what_no_format_takes(tmp_path: Path, changes: dict[str, Any], want: str) -> None:
    with pytest.raises(CaptureError) as caught:
        make(tmp_path / "out", write_sample(tmp_path / "set"), **changes)
    assert want in str(caught.value) and not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("hashes", "want"),
    [
        (("ab", "AB", "c"), "these sets go into no package, which would be refused\n    {out}/sample-sm121-{digest}.tar.zst:{set}/cubins/ab.cubin: error: its path is"),
        (("a" * 200, "b", "c"), "{set}/cubins/{long}.cubin: error: its path is longer than a tar archive takes; give the set's cubins shorter names"),
    ],
)
def test_package_refuses_a_set_that_verify_would_refuse_in_a_package(tmp_path: Path, hashes: tuple[str, ...], want: str) -> None:
    folder = write_sample(tmp_path / "set")
    captured, cubins = read_set(folder).captured, sample_cubins(121)
    names = dict(zip((COPY, COPY_ANY, ADD), hashes))
    kernels = [sealed(msgspec.structs.replace(kernel, hash=names[kernel.hash])) for kernel in captured.kernels]
    write_set(msgspec.structs.replace(captured, kernels=kernels), {names[hash_]: cubin for hash_, cubin in cubins.items()}, folder)
    with pytest.raises(CaptureError) as caught:
        make(tmp_path / "out", folder)
    digest = verify(folder).sets[0].digest[:12]
    assert want.format(out=tmp_path / "out", digest=digest, set=SET, long="a" * 200) in str(caught.value)
    assert caught.value.code == Exit.INPUT and not (tmp_path / "out").exists()


@pytest.mark.parametrize("out", [".", "cubins", "new/folder"])
def test_package_writes_nothing_into_a_set(tmp_path: Path, out: str) -> None:
    folder = write_sample(tmp_path / "set")
    with pytest.raises(CaptureError, match="error: this lies in the folder of a set, which holds its files alone; name another folder with --out"):
        make(folder / out, folder)
    assert verify(folder).sets


def test_package_refuses_two_sets_for_one_target_and_two_families(tmp_path: Path) -> None:
    first, second = write_sample(tmp_path / "first"), write_sample(tmp_path / "second")
    with pytest.raises(CaptureError, match="a second set for sm_121"):
        make(tmp_path / "out", first, second)
    other = write_sample(tmp_path / "other", 90, family="another")
    with pytest.raises(CaptureError, match="the sets are of 2 families: another, sample"):
        make(tmp_path / "out", first, other)
    assert make(tmp_path / "out", first, other, app="both").app == "both"


def test_package_refuses_a_damaged_set(tmp_path: Path) -> None:
    checked = 0
    for number, damage in enumerate(DAMAGES):
        if damage.name in ("a byte of a cubin flipped", "an entry that claims more than its code", "a cubin deleted", "a cubin for another GPU"):
            folder = write_sample(tmp_path / str(number) / "share/sample/cuda/sm121")
            damage.apply(folder)
            with pytest.raises(CaptureError) as caught:
                make(tmp_path / "out", folder)
            assert damage.message_python in str(caught.value)
            checked += 1
    assert checked == 4 and not (tmp_path / "out").exists()


def test_package_refuses_a_set_of_another_tool(tmp_path: Path) -> None:
    folder = write_sample(tmp_path / "set")
    (folder / "aot.json").write_text(json.dumps(of_another_tool(json.loads((folder / "aot.json").read_bytes()))))
    with pytest.raises(CaptureError, match="it records no seals, so nothing says what its cubins assume"):
        make(tmp_path / "out", folder)


def test_r51_every_elf_in_a_package_is_cuda(tmp_path: Path) -> None:
    elfs = 0
    deb = sample_package(tmp_path, "deb")
    unpack_deb(deb.read_bytes(), "deb", tmp_path)
    for path in (tmp_path / "data").rglob("*"):
        if path.is_file() and path.read_bytes().startswith(b"\x7fELF"):
            elfs += 1
            assert int.from_bytes(path.read_bytes()[18:20], "little") == 190
    assert elfs == 3 and list(read_ar(deb.read_bytes(), "")) == ["debian-binary", "control.tar.zst", "data.tar.zst"]


@pytest.fixture
def dpkg() -> str:
    """dpkg where there is one; a machine without it reads the .deb as test_every_format_holds_the_same_files does."""
    found = shutil.which("dpkg")
    if found is None:
        pytest.skip("this machine has no dpkg")
    return found


def test_dpkg_installs_the_deb_and_finds_nothing_changed(tmp_path: Path, dpkg: str) -> None:
    deb = sample_package(tmp_path, "deb")
    root = tmp_path / "root"
    for folder in ("info", "updates"):
        (root / "var/lib/dpkg" / folder).mkdir(parents=True)
    (root / "var/lib/dpkg/status").touch()
    options = [f"--root={root}", "--force-not-root", f"--log={tmp_path}/log"]
    subprocess.run([dpkg, *options, "--install", deb], check=True, capture_output=True, env=os.environ | {"PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"})
    (verified,) = verify(root / "usr").sets
    assert verified.folder == str(root / "usr" / SET) and verified.packaged
    checked = subprocess.run([dpkg, *options, "--verify", "sample-cuda-sm121"], check=True, capture_output=True, text=True)
    assert checked.stdout == ""
    (root / "usr" / SET / "README.md").write_text("edited")
    assert "README.md" in subprocess.run([dpkg, *options, "--verify"], check=False, capture_output=True, text=True).stdout


def test_wheel_tells_where_its_sets_are(tmp_path: Path) -> None:
    wheel = sample_package(tmp_path, "wheel")
    environment = tmp_path / "a venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    pip = [sys.executable, "-m", "pip", "--python", environment / "bin/python", "install", "--no-deps", "--no-index", "--quiet", wheel]
    subprocess.run(pip, check=True, env=os.environ | {"PIP_DISABLE_PIP_VERSION_CHECK": "1"})
    script = "from sample_cuda_sm121 import folder; print(folder('sm_121'))"
    asked = [[environment / "bin/sample-cuda-sm121"], [environment / "bin/python", "-c", script]]
    told = {subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip() for command in asked}
    (folder,) = told
    (verified,) = verify(Path(folder)).sets
    assert verified.packaged and Path(folder).is_relative_to(environment)
    other = subprocess.run([*asked[0], "sm_90"], check=False, capture_output=True, text=True)
    assert other.returncode == 1 and "have sm_121, need sm_90" in other.stderr
