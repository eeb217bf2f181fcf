"""`verify-set`: what it says of a set that is whole, of every kind of damage, and of a wrong command line."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from build_capture.package.verify import verify
from build_capture.sets.digest import digest
from build_capture.sets.read import read_set
from build_capture.targets import TARGETS
from tests.package.damage import DAMAGES, Damage, check_each_damage_has_its_own_message, damaged
from tests.package.harness import make, refusal, unpacked, unpacked_sample
from tests.package.sample import write_sample
from tests.package.test_odd_sets import TAKEN, odd_sample
from tests.verify.conftest import ROOT, Verifier


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a packaged set."""
    return unpacked_sample(tmp_path_factory.mktemp("whole"))


def test_verify_set_passes_what_is_whole(verifier: Verifier, whole: Path) -> None:
    found = verifier.good(whole)
    names = ("folder", "sm", "digest", "entries", "cubins", "packaged", "problems", "coverage")
    assert {name: found[name] for name in names} == {
        "folder": str(whole), "sm": 121, "digest": digest(read_set(whole)), "entries": 4, "cubins": 3, "packaged": True, "problems": [], "coverage": None,
    }  # fmt: skip
    assert found["bytes"] == sum(path.stat().st_size for path in (whole / "aot.json", *(whole / "cubins").iterdir()))
    printed = verifier.run(whole).stdout
    assert printed == f"{whole}: sm_121, 4 entries, 3 cubins, {found['bytes']} bytes, digest {digest(read_set(whole))}\n"


def test_verify_set_passes_a_read_only_copy_and_one_without_a_manifest(verifier: Verifier, whole: Path, tmp_path: Path) -> None:
    shutil.copytree(whole, tmp_path / "copy")
    for path in [*(tmp_path / "copy").rglob("*"), tmp_path / "copy"]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    assert verifier.good(tmp_path / "copy")["digest"] == verifier.good(write_sample(tmp_path / "bare"))["digest"] == digest(read_set(whole))
    for path in (tmp_path / "copy", tmp_path / "copy" / "cubins"):
        path.chmod(0o755)


def test_verify_set_accepts_what_package_writes_of_odd_sets(verifier: Verifier, tmp_path: Path) -> None:
    for number, (place, value) in enumerate(TAKEN):
        folder = odd_sample(tmp_path / f"{number}/set", place, value)
        (file,) = make(tmp_path / f"{number}/out", folder, app="sample", formats=("tar.zst",)).files
        assert verifier.good(unpacked(Path(file), tmp_path / str(number)))["packaged"]


@pytest.mark.parametrize("option", ["--folder", "--json"])
def test_verify_set_keeps_its_exit_code_where_nobody_reads(option: str, verifier: Verifier, whole: Path, tmp_path: Path) -> None:
    shutil.copytree(whole, tmp_path / "set")
    next((tmp_path / "set/cubins").iterdir()).unlink()
    reader, writer = os.pipe()
    os.close(reader)
    for folder, code in ((whole, 0), (tmp_path / "set", 3), (tmp_path / "absent", 2)):
        assert subprocess.run([verifier.program, folder, option], stdout=writer, stderr=writer).returncode == code
    os.close(writer)


def test_both_verifiers_take_the_cubins_of_the_folder_that_the_set_names(verifier: Verifier, tmp_path: Path) -> None:
    given = write_sample(tmp_path / "set")
    (given / "cubins").rename(given / "code")
    for cubin in (given / "code").iterdir():
        cubin.rename(cubin.with_suffix(".bin"))
    (given / "aot.json").write_text(json.dumps(json.loads((given / "aot.json").read_bytes()) | {"bin_dir": "code", "bin_ext": "bin"}))
    packaged = make(tmp_path / "packages", given, formats=("tar.zst",))
    folder = unpacked(Path(packaged.files[0]), tmp_path)
    (line,) = (line for line in (folder / "README.md").read_text().splitlines() if "sha256sum" in line)
    printed = subprocess.run(["sh", "-c", line], cwd=folder, capture_output=True, text=True, check=True).stdout
    assert printed == f"{packaged.digest}  -\n" and verifier.good(folder)["digest"] == verify(folder).sets[0].digest == packaged.digest
    (cubin, *_) = sorted((folder / "code").iterdir())
    for path, data, want in (
        (folder / "code/x.bin", b"", "x.bin: error: aot.json lists no such cubin"),
        (folder / "cubins/x.cubin", b"", "x.cubin: error: it is no part of a set"),
        (cubin, b"x", f"{cubin.name}: error: its bytes are not those that aot.json records for _copy"),
    ):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        assert want in verifier.refusal(folder) and want in refusal(folder)
        path.unlink()


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.name)
def test_verify_set_names_the_damage_as_python_does(verifier: Verifier, damage: Damage, whole: Path, tmp_path: Path) -> None:
    folder = damaged(damage, whole, tmp_path)
    assert damage.message_python in verifier.refusal(folder)
    result = verifier.run(folder, "--json")
    answer = json.loads(result.stdout)
    assert (result.returncode, answer["good"]) == (3, False) and answer["sets"][0]["problems"]


def test_each_damage_has_a_message_of_its_own(verifier: Verifier, whole: Path, tmp_path: Path) -> None:
    check_each_damage_has_its_own_message(verifier.refusal, whole, tmp_path)


def test_random_damage_is_found_and_never_ends_the_program(verifier: Verifier, whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(whole, folder)
    names = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    chance = random.Random(0)
    for _ in range(150):
        path = folder / chance.choice(names)
        data = path.read_bytes()
        changed = bytearray(data[: chance.randint(0, len(data))] if chance.random() < 0.3 else data)
        for _ in range(chance.randint(1, 8) if changed else 0):
            changed[chance.randrange(len(changed))] = chance.randrange(256)
        if changed == data:
            continue
        path.write_bytes(changed)
        # What no file vouches for is what the manifest says of the packager.
        assert verifier.run(folder).returncode in ((0, 3) if path.name == "manifest.json" else (3,)), bytes(changed)
        path.write_bytes(data)
    verifier.good(folder)


def test_verify_set_takes_a_prefix_and_the_set_that_is_needed(verifier: Verifier, tmp_path: Path) -> None:
    for capability in (90, 121):
        write_sample(tmp_path / f"share/sample/cuda/sm{capability}", capability)
    assert verifier.run(tmp_path).stdout.count("digest ") == 2
    assert verifier.good(tmp_path, "--target", "sm_90")["sm"] == 90
    assert verifier.refusal(tmp_path, "--target", "sm_120") == f"{tmp_path}: error: have sm121, sm90, need sm120; name another folder\n"
    # An explicit folder wins, whatever is installed elsewhere.
    explicit = tmp_path / "share/sample/cuda/sm90"
    assert "error: have sm90, need sm121" in verifier.refusal(explicit, "--target", "sm_121")
    assert verifier.good(explicit / "aot.json")["sm"] == verifier.good(explicit, "--folder")["sm"] == 90
    said = verifier.refusal(tmp_path, "--folder")
    assert said.startswith(f"{tmp_path}: error: there is no aot.json") and f"name the folder of one: {tmp_path}/share/sample/cuda/sm121\n" in said
    assert "(it is no folder)" in verifier.refusal(explicit / "aot.json", "--folder", code=2)


def test_verify_set_finds_a_set_in_the_folder_of_another_gpu(verifier: Verifier, tmp_path: Path) -> None:
    write_sample(tmp_path / "share/sample/cuda/sm121", 90)
    assert "share/sample/cuda/sm121: error: have sm90, need sm121" in verifier.refusal(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the path of a set is missing"),
        (["a", "b"], "a second path, b"),
        ([""], "the path of the set is empty"),
        (["--nonsense", "a"], "there is no option --nonsense"),
        (["a", "--target"], "--target lacks its value"),
        (["a", "--json", "--json"], "--json is given twice"),
        (["a", "--target", "sm_42"], "--target is sm_42, which is no GPU that is known"),
        (["a", "--parallel", "2"], "--parallel: this program was built without an engine's rounds"),
        (["a", "--profile", "capture.zon"], "--profile needs --declarations and --kernels"),
        (["a", "--kernels", "kernels"], "--kernels needs --profile"),
        (["a", "--stale", "maybe"], "--stale is maybe; expected refuse or warn"),
        (["absent"], "absent: error: there is no such folder (FileNotFound)"),
    ],
)
def test_verify_set_refuses_a_wrong_command_line(verifier: Verifier, tmp_path: Path, arguments: list[str], message: str) -> None:
    result = verifier.run(*arguments, folder=tmp_path)
    assert (result.returncode, result.stdout) == (2, ""), result
    assert message in result.stderr


def test_verify_set_helps(verifier: Verifier) -> None:
    result = verifier.run("--help")
    assert result.returncode == 0 and "--target" in result.stdout and "Exit codes" in result.stdout and "--parallel" not in result.stdout


def test_targets_of_zig_are_those_of_python() -> None:
    text = (ROOT / "zig_bridge" / "verify" / "targets.zig").read_text(encoding="utf-8")
    found = {int(sm): int(kib) * 1024 for sm, kib in re.findall(r"\.sm = (\d+), \.shared_kib = (\d+)", text)}
    assert found == {capability: target.shared_bytes_max for capability, target in TARGETS.items()} and len(found) > 5
