"""Starts the process that launches, shows its progress, and brings its answer back."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from build_capture.capture.gpu.device import gpu_environment
from build_capture.capture.gpu.records import Answer, LaunchRequest
from build_capture.capture.graph import Progress
from build_capture.capture.ptxas import variables_for
from build_capture.capture.records import Kernel
from build_capture.errors import CaptureError, Exit
from build_capture.files import make_folder
from build_capture.plan.needs import Need
from build_capture.process import SPOKEN, own_module, shorten
from build_capture.read.profile import Limits
from build_capture.targets import Target

_STATUS = re.compile(r"\[(\d+)/(\d+)\] (.*)")

WORKER = tuple(own_module("build_capture.capture.gpu.worker"))
"""The process."""


def launch_needs(
    needs: Sequence[Need],
    kernels: Sequence[Kernel],
    folder: Path,
    limits: Limits,
    target: Target,
    *,
    cache: Path,
    values: Path | None,
    progress: Progress,
    worker: Sequence[str] = WORKER,
    device: str = "cuda",
    ptxas: Path | None = None,
) -> Answer:
    """Launch every need that the family in `folder` has an example of, then its rounds.

    `values` is where what the launches take and give is written. Raises a `CaptureError` (`Exit.KERNEL`) where the process
    does not come to an answer; what is wrong with one need is part of the answer.
    """
    private = cache / "gpu"
    make_folder(private)
    with tempfile.TemporaryDirectory(dir=private) as place:
        request = LaunchRequest(
            needs=list(needs),
            modules={kernel.function: kernel.module for kernel in kernels},
            folder=str(folder.resolve()),
            limits=msgspec.to_builtins(limits),
            target=target.name,
            values=None if values is None else str(values.resolve()),
            device=device,
        )
        question, answer = Path(place) / "request.json", Path(place) / "answer.json"
        question.write_bytes(msgspec.json.encode(request))
        _run([*worker, str(question), str(answer)], Path(place), progress, variables_for(ptxas))
        return msgspec.json.decode(answer.read_bytes(), type=Answer)


def _run(command: list[str], place: Path, progress: Progress, variables: dict[str, str]) -> None:
    """Run the worker in `place` with further variables, and turn the lines that it prints into progress."""
    last, said = "", []
    with (place / "errors.txt").open("w+b") as errors:
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            errors="replace",
            env=gpu_environment(place) | variables,
            cwd=place,
        ) as process:
            assert process.stdout is not None
            try:
                for line in process.stdout:
                    if status := _STATUS.match(line):
                        last = status[3].strip()
                        progress(int(status[1]), int(status[2]), last)
                    else:
                        said.append(line)
            except BaseException:
                process.terminate()
                raise
        errors.seek(0)
        detail = errors.read().decode(errors="replace").strip() or "".join(said)
    if process.returncode == SPOKEN:
        raise CaptureError(detail, code=Exit.KERNEL, whole=True)
    if process.returncode != 0:
        raise CaptureError(f"launching on the GPU failed (exit {process.returncode}), at: {last}", detail=shorten(detail), code=Exit.KERNEL)
