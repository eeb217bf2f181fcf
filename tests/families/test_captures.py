"""A capture as a process: the same bytes whatever Python's seed and the jobs, and no variable of the environment reaches a compile."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from build_capture.errors import CaptureError
from tests.families.conftest import ZIG_VARIABLES, zig_of
from tests.families.harness import Family
from tests.families.tiny import write_tiny
from tests.policy.assemblers import own_ptxas, write_ptxas

ROOT = Path(__file__).resolve().parents[2]


def capture(family: Family, out: Path, *options: str | Path, **variables: str) -> None:
    """Run `build-capture capture` in a process of its own, as a user does."""
    command = [sys.executable, "-m", "build_capture", "capture", "--profile", family.folder / "capture.zon", "--zig", family.zig, "--out", out]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))} | variables
    finished = subprocess.run([*command, *options], env=environment, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr


def files(folder: Path) -> dict[str, bytes]:
    """Every file of a set by name."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture
def steps(tmp_path: Path, cache: Path) -> Family:
    """A family of one kernel with two needs."""
    return write_tiny(tmp_path / "tiny", zig_of(ZIG_VARIABLES[0]), cache, domains=".n = .{ .from = 1, .to = 2 }", fields='.policy = "total",')


def test_r26_a_set_is_the_same_for_every_hash_seed_and_number_of_jobs(steps: Family, tmp_path: Path, cache: Path) -> None:
    sets = []
    for seed, jobs in (("0", "1"), ("1", "8"), ("2", "8")):
        # The reader and the probe are shared; what is compiled is not.
        for result in (cache / "variants" / "results").glob("*.json"):
            result.unlink()
        capture(steps, tmp_path / seed, "--cache-dir", cache, "--jobs", jobs, PYTHONHASHSEED=seed)
        sets.append(files(tmp_path / seed))
    assert sets[0] == sets[1] == sets[2] and len(sets[0]) == 3
    assert msgspec.json.decode(sets[0]["aot.json"])["policy"] == "total"


def test_profile_names_a_policy_that_there_is(steps: Family) -> None:
    steps.edit("capture.zon", '"total"', '"totall"')
    with pytest.raises(CaptureError, match="capture.zon:.*error: .policy is 'totall'; did you mean total?"):
        steps.plan()


def test_r36_an_assembler_that_is_asked_for_is_recorded_and_no_variable_of_the_environment_is(steps: Family, tmp_path: Path, cache: Path) -> None:
    own = own_ptxas()[1]
    mine = write_ptxas(tmp_path / "my ptxas", "Cuda compilation tools, release 13.1, V13.1.999", own)
    strange = {"TRITON_PTXAS_BLACKWELL_PATH": str(mine), "TRITON_PTXAS_PATH": str(mine), "TRITON_OVERRIDE_ARCH": "sm90", "PTXAS_OPTIONS": "-O0"}
    capture(steps, tmp_path / "plain", "--cache-dir", cache)
    capture(steps, tmp_path / "variables", "--cache-dir", cache, **strange)
    assert files(tmp_path / "plain") == files(tmp_path / "variables")
    depfile = tmp_path / "capture.d"
    capture(steps, tmp_path / "given", "--cache-dir", cache, "--ptxas", mine, "--depfile", depfile)
    toolchains = [msgspec.json.decode((tmp_path / name / "aot.json").read_bytes())["provenance"]["toolchain"] for name in ("plain", "given")]
    assert [toolchain["ptxas_given"] for toolchain in toolchains] == [False, True]
    assert toolchains[1]["ptxas"] == "13.1.999" and toolchains[0]["ptxas_sha256"] != toolchains[1]["ptxas_sha256"]
    assert "my ptxas" in depfile.read_text().replace("\\", "")
