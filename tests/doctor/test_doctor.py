"""What `build-capture doctor` finds, and that each thing it looks at can be found wrong."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from build_capture.capture import ptxas
from build_capture.doctor.assemblers import TritonAnswer, ask_triton, find_assemblers, target_states
from build_capture.doctor.diagnose import diagnose
from build_capture.doctor.folders import find_folders
from build_capture.doctor.tools import TRITON_AFTER, TRITON_OLDEST, zig_tool
from build_capture.doctor.variables import ELSEWHERE, PREFIXES, find_variables
from build_capture.errors import CaptureError, Exit
from build_capture.process import closed_environment
from build_capture.targets import TARGETS, parse_target
from tests.end_to_end.conftest import zig_executable

ROOT = Path(__file__).resolve().parents[2]


def doctor(*arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the command as a user does."""
    command = [sys.executable, str(ROOT / "build_capture"), "doctor", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | variables, timeout=120)


@pytest.fixture(scope="module")
def triton() -> TritonAnswer:
    """What the Triton of this Python says."""
    return ask_triton()


def with_assembler(triton: TritonAnswer, path: str) -> TritonAnswer:
    """The same Triton, with another assembler for every target."""
    return TritonAnswer(triton.version, triton.path, dict.fromkeys(triton.assemblers, path))


def write_zig(path: Path, version: str) -> str:
    """A Zig that knows its version and nothing else."""
    path.write_text(f"#!/bin/sh\necho {version}\n")
    path.chmod(0o755)
    return str(path)


def test_doctor_finds_what_a_capture_needs_on_this_machine() -> None:
    finished = doctor("--json", "--zig", zig_executable("0.16"), TRITON_INTERPRET="1")
    assert finished.returncode == 0, finished.stderr
    found: dict[str, Any] = json.loads(finished.stdout)
    assert found["works"] and found["mends"] == [] and found["target"] == "sm_121"
    assert [tool["name"] for tool in found["tools"]] == ["Zig", "Python", "Triton", "ninja", "torch"]
    assert found["tools"][0]["state"] == "good" and found["tools"][0]["version"] == "0.16.0"
    assert {state["target"]: state["works"] for state in found["targets"]} == {target.name: True for target in TARGETS.values()}
    set_here = {variable["name"]: variable for variable in found["variables"] if variable["value"] is not None}
    assert set_here["TRITON_INTERPRET"]["here"].startswith("nothing")
    assert found["gpu"].keys() == {"name", "target", "problem"}


def test_doctor_without_zig_ends_with_4_and_the_mend(tmp_path: Path) -> None:
    finished = doctor("--zig", tmp_path / "zig")
    assert finished.returncode == 4
    assert "A capture for sm_121 cannot work here" in finished.stdout
    assert "error: Zig: asking Zig for its version: cannot start" in finished.stderr and "--zig" in finished.stderr


def test_doctor_tells_of_a_triton_that_cannot_be_imported(tmp_path: Path) -> None:
    (tmp_path / "triton").mkdir()
    (tmp_path / "triton" / "__init__.py").write_text("raise ImportError('libtriton.so is for another machine')\n")
    finished = doctor("--zig", zig_executable("0.16"), PYTHONPATH=str(tmp_path))
    assert finished.returncode == 4
    assert "error: Triton: it cannot be imported: ImportError: libtriton.so is for another machine; " in finished.stderr
    assert "pip install 'triton>=3.6,<3.10'" in finished.stderr


@pytest.mark.parametrize(("version", "state"), [("0.16.0", "good"), ("0.17.1", "good"), ("0.16.3", "untested"), ("0.15.2", "bad"), ("none", "bad")])
def test_zig_tool_knows_which_are_tested(tmp_path: Path, version: str, state: str) -> None:
    tool = zig_tool(write_zig(tmp_path / "zig", version))
    assert tool.state == state
    assert bool(tool.mend) == (state == "bad")


def test_find_assemblers_tries_each_for_every_target(triton: TritonAnswer, tmp_path: Path) -> None:
    old = triton.assemblers["sm_80"]
    liar = write_zig(tmp_path / "ptxas", "no ptxas")
    found = find_assemblers(triton, {"PATH": str(tmp_path), "TRITON_PTXAS_BLACKWELL_PATH": old})
    by_path = {assembler.path: assembler for assembler in found}
    assert len(found) == 3
    assert by_path[old].origin == "Triton's ptxas, TRITON_PTXAS_BLACKWELL_PATH"
    assert "sm_90" in by_path[old].assembles and "sm_121" in by_path[old].refuses
    assert by_path[liar].version == "" and not by_path[liar].assembles and len(by_path[liar].refuses) == len(TARGETS)
    assert all(len(assembler.assembles) + len(assembler.refuses) == len(TARGETS) for assembler in found)


@pytest.mark.parametrize(("answers", "what"), [("nothing", "asking ptxas for its version"), ("--version", "assembling")])
def test_r12_assembler_that_never_ends_is_given_up_on(answers: str, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ptxas, "SECONDS_MAX", 1)
    stuck = tmp_path / "ptxas"
    stuck.write_text(f'#!/bin/sh\n[ "$1" = {answers} ] && echo "Cuda compilation tools, release 13.1, V13.1.80" || exec sleep 60\n')
    stuck.chmod(0o755)
    want = f"{what}: {stuck} did not end within 1 seconds"
    if answers == "nothing":
        with pytest.raises(CaptureError, match=want) as raised:
            ptxas.check_ptxas(stuck, parse_target("sm_121"))
        assert raised.value.code == Exit.TOOL
    else:
        (found,) = find_assemblers(None, {"PATH": str(tmp_path)})
        assert found.refuses == {name: want for name in (target.name for target in TARGETS.values())}


def test_diagnose_names_the_assembler_that_does_not_know_the_target(triton: TritonAnswer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from build_capture.doctor import diagnose as module

    tool, _ = module.triton_tool()
    old = triton.assemblers["sm_80"]
    monkeypatch.setattr(module, "triton_tool", lambda: (tool, with_assembler(triton, old)))
    zig = write_zig(tmp_path / "zig", "0.16.0")
    bad, good = (diagnose(parse_target(name), zig, tmp_path / "cache", {}) for name in ("sm_121", "sm_90"))
    assert not bad.works and good.works
    (mend,) = bad.mends
    assert mend.startswith(f"{old} cannot assemble for sm_121 (") and "name that of CUDA 12.9 or newer with --ptxas" in mend
    (better,) = diagnose(parse_target("sm_121"), zig, tmp_path / "cache", {"TRITON_PTXAS_PATH": triton.assemblers["sm_121"]}).mends
    assert f"name {triton.assemblers['sm_121']} with --ptxas" in better


def test_target_states_without_triton_are_all_bad() -> None:
    states = target_states(None, [])
    assert len(states) == len(TARGETS) and not any(state.works for state in states)


def test_find_folders_finds_one_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache, *others = find_folders(tmp_path / "file" / "cache", {"ZIG_GLOBAL_CACHE_DIR": str(tmp_path / "zig")})
    assert not cache.writable and "cannot write in" in cache.problem
    assert all(folder.writable for folder in others) and others[0].path == str(tmp_path / "zig")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_variables_reach_no_compile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ELSEWHERE:
        monkeypatch.setenv(name, "1")
    found = find_variables({**os.environ, "TRITON_NEW": "1", "MLIR_ENABLE_DUMP": "1"})
    assert {variable.name for variable in found} >= {*ELSEWHERE, "TRITON_NEW", "MLIR_ENABLE_DUMP"}
    assert len(ELSEWHERE) > 20 and all(variable.here.startswith("nothing") for variable in found)
    private = closed_environment(tmp_path)
    # Triton's home is a private folder; the capture itself says whether there are line tables.
    assert {name: private[name] for name in ELSEWHERE if name in private} == {"TRITON_HOME": str(tmp_path)}


def test_variables_are_all_that_triton_reads(triton: TritonAnswer) -> None:
    """What has a prefix of Triton's parts is listed as soon as it is set; the others have to be named."""
    knobs = (Path(triton.path) / "knobs.py").read_text(encoding="utf-8")
    read = {name for name in re.findall(r'"([A-Z][A-Z0-9]*_[A-Z0-9_]+)"', knobs) if not name.startswith(("AMDGCN_", *PREFIXES))}
    assert {"DISABLE_PTXAS_OPT", "USE_IR_LOC"} <= read <= set(ELSEWHERE)


def test_triton_versions_are_those_of_the_package() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    oldest, after = (".".join(map(str, version)) for version in (TRITON_OLDEST, TRITON_AFTER))
    assert f'"triton>={oldest},<{after}"' in project
