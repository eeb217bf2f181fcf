"""Which ptxas there are, which of them Triton takes for which target, and for which targets each really assembles."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from build_capture.capture.ptxas import assembly_problem, ptxas_version
from build_capture.doctor.records import Assembler, TargetState
from build_capture.errors import CaptureError
from build_capture.process import closed_environment, own_module, run_tool
from build_capture.targets import TARGETS

VARIABLES = ("TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH")
"""By these Triton itself is given another ptxas. A capture does not read them; they show which ones there are."""


class TritonAnswer(msgspec.Struct, frozen=True):
    """What Triton says of itself, in a process of its own."""

    version: str
    path: str
    assemblers: dict[str, str]
    """Target -> the ptxas that it takes for it."""


def ask_triton() -> TritonAnswer:
    """Ask the Triton of this Python, in the environment of a capture. Raises a `CaptureError` where it cannot be imported."""
    with tempfile.TemporaryDirectory() as private:
        folder = Path(private)
        answer = folder / "answer.json"
        command = [*own_module("build_capture.doctor.triton_answer"), answer]
        run_tool(command, what="asking Triton", environment=closed_environment(folder), folder=folder)
        return msgspec.json.decode(answer.read_bytes(), type=TritonAnswer)


def find_assemblers(triton: TritonAnswer | None, environment: Mapping[str, str]) -> list[Assembler]:
    """Every ptxas that Triton, PATH or a variable leads to, each tried for every target."""
    found: dict[str, list[str]] = {}
    for origin, path in _places(triton, environment):
        found.setdefault(str(Path(path).resolve()), []).append(origin)
    return [_try(path, ", ".join(dict.fromkeys(origins))) for path, origins in found.items()]


def _places(triton: TritonAnswer | None, environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for path in triton.assemblers.values() if triton else ():
        yield f"Triton's {Path(path).name}", path
    if on_path := shutil.which("ptxas", path=environment.get("PATH", "")):
        yield "PATH", on_path
    for name in VARIABLES:
        if environment.get(name):
            yield name, environment[name]


def _try(path: str, origin: str) -> Assembler:
    try:
        version = ptxas_version(Path(path))
        problems = {target.name: assembly_problem(Path(path), target) for target in TARGETS.values()}
    except CaptureError as error:
        return Assembler(path, "", origin, [], {target.name: error.what for target in TARGETS.values()})
    assembles = [name for name, problem in problems.items() if not problem]
    return Assembler(path, version, origin, assembles, {name: problem.splitlines()[0] for name, problem in problems.items() if problem})


def target_states(triton: TritonAnswer | None, assemblers: list[Assembler]) -> list[TargetState]:
    """For each target whether the ptxas that Triton takes for it assembles for it."""
    by_path = {assembler.path: assembler for assembler in assemblers}
    return [_state(name, triton, by_path) for name in (target.name for target in TARGETS.values())]


def _state(name: str, triton: TritonAnswer | None, by_path: Mapping[str, Assembler]) -> TargetState:
    if triton is None:
        return TargetState(name, "", False, "there is no Triton")
    assembler = by_path[str(Path(triton.assemblers[name]).resolve())]
    return TargetState(name, assembler.path, name in assembler.assembles, assembler.refuses.get(name, ""))
