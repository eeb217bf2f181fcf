"""The process that launches: every need by its example, then the family's own rounds. Started by the capture, not by users.

    python build_capture --module build_capture.capture.gpu.worker REQUEST ANSWER    a `LaunchRequest`; an `Answer`
"""

from __future__ import annotations

import contextlib
import math
import os
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

import msgspec

from build_capture.capture.gpu.mode import EXAMPLES
from build_capture.capture.gpu.records import Answer, ExampleRun, Launched, LaunchRequest, Output
from build_capture.capture.gpu.values import ValuesWriter
from build_capture.errors import CaptureError, Place
from build_capture.plan.needs import Need
from build_capture.process import SPOKEN

ROUNDS_SECONDS = 0.5
"""How often the progress of rounds shows."""


def launch_all(request: LaunchRequest) -> Answer:
    """Do what the request asks. What one need's example does wrong is told of in its place; the others go on."""
    from build_capture.capture.gpu.recorder import Recorder
    from build_capture.capture.triton_steps import import_kernels

    folder = Path(request.folder)
    kernels = {function: getattr(import_kernels(folder / module, folder), function) for function, module in request.modules.items()}
    family = _import_examples(folder)
    recorder = Recorder()
    recorder.install()
    launched: list[Launched] = []
    total = len(request.needs) + 1
    with contextlib.closing(ValuesWriter(Path(request.values), request.target)) if request.values else contextlib.nullcontext() as values:
        for need in request.needs:
            _progress(len(launched), total, f"launching {need.function} {need.classes}")
            runs: list[ExampleRun] = []
            failure = _unusable(request.device) if launched and launched[-1].failure else ""
            try:
                if not failure:
                    _launch_need(kernels[need.function], need, family, request.device, values, runs)
            except Exception as error:
                failure = _told(error, folder)
            launched.append(Launched(runs, recorder.take(), failure))
    count, failure = _serve(family, request, total)
    return Answer(launched, count, recorder.take(), failure)


def _import_examples(folder: Path) -> Any:
    """The family's examples. Raises a `CaptureError` where they cannot be imported, or lack the function that makes them."""
    from build_capture.capture.triton_steps import import_kernels

    path = folder / EXAMPLES
    try:
        family = import_kernels(path, folder)
    except Exception as error:
        raise CaptureError(f"importing the family's examples fails: {_told(error, folder)}", where=Place(str(path))) from error
    if not callable(getattr(family, "examples", None)):
        raise CaptureError("this module has no function examples(need, device, compact)", where=Place(str(path)), mend="see docs/examples.md")
    return family


def _launch_need(kernel: Any, need: Need, family: Any, device: str, values: ValuesWriter | None, runs: list[ExampleRun]) -> None:
    """Launch each example of a need, and gather what came of it in `runs`."""
    asked = msgspec.to_builtins(need) | {"constexprs": {name: constant.python for name, constant in need.constexprs.items()}}
    for example in family.examples(asked, device, False):
        _launch(kernel, need, example)
        runs.append(_compared(example, compact=False))
    for example in family.examples(asked, device, True) if values else ():
        before = values.before(example)
        _launch(kernel, need, example)
        values.add(need, example, before)
        runs.append(_compared(example, compact=True))


def _launch(kernel: Any, need: Need, example: Any) -> None:
    """One launch through Triton: the tensors are the example's, all else is the need's."""
    from build_capture.capture.triton_steps import FP_FUSION

    constexprs = {name: constant.python for name, constant in need.constexprs.items()}
    options = {"num_warps": need.options.num_warps, "num_stages": need.options.num_stages}
    kernel[tuple(example.grid)](**example.arguments, **constexprs, enable_fp_fusion=FP_FUSION, **options)


def _compared(example: Any, *, compact: bool) -> ExampleRun:
    ints = [f"{name}={value}" for name, value in example.arguments.items() if isinstance(value, int)]
    shape = " ".join([f"grid {'x'.join(map(str, example.grid))}", *ints])
    compared = [(each.what, float(each.error), float(each.limit)) for each in example.check()]
    return ExampleRun(shape, [Output(what, error if math.isfinite(error) else None, limit) for what, error, limit in compared], compact)


def _serve(family: Any, request: LaunchRequest, total: int) -> tuple[int, str]:
    """Let the family serve its rounds, where it has any; returns how many there were, and why they ended early if they did."""
    count, shown = 0, 0.0
    try:
        for title in family.rounds(request.limits, request.device) if hasattr(family, "rounds") else ():
            count += 1
            if time.monotonic() - shown > ROUNDS_SECONDS:
                shown = time.monotonic()
                _progress(total - 1, total, f"round {count}: {title}")
        if problem := _unusable(request.device):
            return count, problem
    except Exception as error:
        return count, _told(error, Path(request.folder))
    _progress(total, total, f"{count} rounds")
    return count, ""


def _unusable(device: str) -> str:
    """Why nothing more can be launched, if so: a fault on the GPU ends all that its process does there."""
    import torch

    try:
        if device.startswith("cuda"):
            torch.cuda.synchronize()
    except RuntimeError:
        return "an earlier launch left the GPU in error"
    return ""


def _told(error: Exception, folder: Path) -> str:
    """A failure in a line, with the line of the family's code that it came from."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).is_relative_to(folder)]
    place = f" ({Path(frames[-1].filename).relative_to(folder).as_posix()}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {str(error).strip() or 'without a word'}{place}"


def _progress(done: int, total: int, title: str) -> None:
    print(f"[{done}/{total}] {title}", flush=True)


def main(arguments: list[str]) -> int:
    """Read the request, launch, write the answer."""
    request = msgspec.json.decode(Path(arguments[0]).read_bytes(), type=LaunchRequest)
    answer = Path(arguments[1])
    try:
        # A cache of its own, gone afterwards: every kernel that is launched was compiled here and now.
        with tempfile.TemporaryDirectory(dir=answer.parent) as cache:
            os.environ["TRITON_CACHE_DIR"] = cache
            answer.write_bytes(msgspec.json.encode(launch_all(request)))
    except CaptureError as error:
        print(error, file=sys.stderr)
        return SPOKEN
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
