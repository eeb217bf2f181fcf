"""The static programs that `zig build verifier` installs: they check a set, and its coverage, where there is nothing else."""

import platform
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.zig_build.fake_capture import write_set
from tests.zig_build.project import Project

MACHINES = {"aarch64": 183, "x86_64": 62}
"""ELF machine numbers."""


def runner(machine: str) -> list[str] | None:
    """How to start a program of that machine here; None where it cannot be started."""
    if platform.machine() == machine:
        return []
    emulator = shutil.which(f"qemu-{machine}")
    return [emulator] if emulator else None


@pytest.mark.full
def test_verifier_is_static_and_checks_files_and_coverage(project: Project, tmp_path: Path) -> None:
    result = project.run("verifier", "-p", str(tmp_path))
    assert result.returncode == 0, result.stdout
    write_set(tmp_path / "share/tiny/cuda/sm121", "shipped", "sm_121")
    ran = 0
    for machine, number in MACHINES.items():
        program = tmp_path / "bin" / f"verify-set-{machine}-linux"
        data = program.read_bytes()
        assert data[:5] == b"\x7fELF\x02" and int.from_bytes(data[18:20], "little") == number
        assert b"/ld-linux" not in data and b"/ld-musl" not in data and str(project.folder).encode() not in data
        start = runner(machine)
        if start is None:
            continue
        check_program([*start, str(program)], tmp_path)
        ran += 1
    assert ran > 0, "no program ran"


def check_program(program: list[str], prefix: Path) -> None:
    """It takes what covers its server, and nothing else."""

    def run(*arguments: str) -> tuple[int, str]:
        # An empty environment: a static program needs neither PATH nor libraries.
        result = subprocess.run([*program, *arguments], env={}, capture_output=True, text=True, timeout=120)
        return result.returncode, result.stdout + result.stderr

    code, said = run(str(prefix))
    assert code == 0 and "sm_121, 1 entry, 1 cubin" in said and "all captured (parallel 1, window rows 1)" in said, said
    code, said = run("--parallel", "2", str(prefix))
    assert code == 3 and "no captured variant of _copy" in said and "try: zig build -Dcapture=true -Dparallel=2 -Dwindow-rows=1" in said, said
    code, said = run("--parallel", "2", "--no-coverage", str(prefix))
    assert code == 0, said
    code, said = run("--parallel", "2000", str(prefix))
    assert code == 2 and "parallel must be from 1 to 1024" in said, said
    code, said = run("--target", "sm_90", str(prefix))
    assert code == 3 and f"{prefix}: error: have sm121, need sm90" in said, said
    code, said = run("--help")
    assert code == 0 and "--parallel N" in said and "(default: 1)" in said
    cubin = prefix / "share/tiny/cuda/sm121/cubins/0123abcd.cubin"
    whole = cubin.read_bytes()
    cubin.write_bytes(whole[:-1])
    code, said = run(str(prefix))
    assert code == 3 and "its bytes are not those that aot.json records for _copy" in said, said
    cubin.write_bytes(whole)
