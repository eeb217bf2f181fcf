"""The assembler, Triton's own or one that a user names: it is tried before anything is compiled with it."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from build_capture.errors import CaptureError, Exit, Place
from build_capture.process import closed_environment, run_tool
from build_capture.targets import Target

OPTION = "--ptxas (of zig build: -Dcapture-ptxas)"
"""What selects another assembler; no variable does."""

SECONDS_MAX = 30
"""What a ptxas is given to say its version, or to assemble the smallest program. It takes a few hundredths of a second."""

_PROGRAM = ".version {version}\n.target {architecture}\n.address_size 64\n.visible .entry probe() {{ ret; }}\n"


def variables_for(ptxas: Path | None) -> dict[str, str]:
    """The variables by which Triton takes `ptxas` for every target; none where its own is to be taken."""
    return {} if ptxas is None else {"TRITON_PTXAS_PATH": str(ptxas), "TRITON_PTXAS_BLACKWELL_PATH": str(ptxas)}


def check_ptxas(ptxas: Path, target: Target, *, given: bool = True) -> None:
    """Raise a `CaptureError` (`Exit.TOOL`) where this is no ptxas, or one that cannot assemble for `target`.

    `given` says that the user named it; Triton takes its own, without a word, where such a one does not answer.
    """
    version = ptxas_version(ptxas)
    if problem := assembly_problem(ptxas, target):
        raise CaptureError(
            f"this ptxas ({version}) cannot assemble for {target.name}; expected one that knows PTX {target.ptx} and {target.architecture}, "
            f"as that of CUDA {target.cuda} or newer",
            where=Place(str(ptxas)),
            mend=f"name such a one with {OPTION}{', or leave that out: Triton brings one' if given else ': Triton brought this one'}",
            detail=problem,
            code=Exit.TOOL,
        )


def ptxas_version(ptxas: Path) -> str:
    """The version that a ptxas prints, such as 12.8.93."""
    mend = "name the path of a ptxas"
    with tempfile.TemporaryDirectory() as private:
        environment = closed_environment(Path(private))
        what = "asking ptxas for its version"
        printed = run_tool([ptxas, "--version"], what=what, environment=environment, mend=mend, code=Exit.TOOL, seconds_max=SECONDS_MAX)
    found = re.search(r"release [\d.]+, V([\d.]+)", printed)
    if found is None:
        raise CaptureError("this is no ptxas: it does not print a version as ptxas does", where=Place(str(ptxas)), mend=mend, code=Exit.TOOL)
    return found[1]


def assembly_problem(ptxas: Path, target: Target) -> str:
    """What a ptxas says when it cannot assemble the smallest program for `target`; empty where it can. Raises a
    `CaptureError` for one that says nothing."""
    with tempfile.TemporaryDirectory() as private:
        program = Path(private) / "probe.ptx"
        program.write_text(_PROGRAM.format(version=target.ptx, architecture=target.architecture), encoding="utf-8")
        command: list[str | Path] = [ptxas, f"--gpu-name={target.architecture}", program, "-o", program.with_suffix(".cubin")]
        try:
            run_tool(command, what="assembling", environment=closed_environment(Path(private)), seconds_max=SECONDS_MAX)
        except CaptureError as error:
            if error.code == Exit.TOOL:
                raise
            return error.detail or error.what
    return ""
