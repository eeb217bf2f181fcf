"""Looks at the machine, and says whether a capture can work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from build_capture.capture.gpu.device import find_device
from build_capture.capture.ptxas import OPTION
from build_capture.doctor.assemblers import find_assemblers, target_states
from build_capture.doctor.folders import find_folders
from build_capture.doctor.records import Assembler, Diagnosis, Folder, Gpu, TargetState, Tool
from build_capture.doctor.tools import ninja_tool, python_tool, torch_tool, triton_tool, zig_tool
from build_capture.doctor.variables import find_variables
from build_capture.errors import CaptureError
from build_capture.targets import Target


def diagnose(target: Target, zig: str | None, cache: Path, environment: Mapping[str, str]) -> Diagnosis:
    """What is on this machine. Nothing is created, and nothing is fetched."""
    triton, answer = triton_tool()
    tools = [zig_tool(zig), python_tool(), triton, ninja_tool(), torch_tool()]
    assemblers = find_assemblers(answer, environment)
    targets = target_states(answer, assemblers)
    folders = find_folders(cache, environment)
    mends = list(_mends(target, tools, targets, assemblers, folders))
    return Diagnosis(target.name, not mends, tools, assemblers, targets, _gpu(), folders, find_variables(environment), mends)


def _mends(
    target: Target, tools: Sequence[Tool], targets: Sequence[TargetState], assemblers: Sequence[Assembler], folders: Sequence[Folder]
) -> Iterator[str]:
    for tool in tools:
        if tool.state == "bad":
            yield f"{tool.name}: {tool.note or tool.version}; {tool.mend}"
    state = next(state for state in targets if state.target == target.name)
    if not state.works and state.assembler:
        other = next((assembler.path for assembler in assemblers if target.name in assembler.assembles), f"that of CUDA {target.cuda} or newer")
        yield f"{state.assembler} cannot assemble for {target.name} ({state.problem}); name {other} with {OPTION}"
    for folder in folders:
        if not folder.writable:
            yield f"{folder.what}, {folder.path}: {folder.problem}"


def _gpu() -> Gpu:
    try:
        device = find_device(to_launch=False)
    except CaptureError as error:
        return Gpu("", "", error.what)
    return Gpu(device.name, f"sm_{device.capability}" if device.capability else "", device.lacks)
