"""Needs become variants: what is there already is reused, the rest is compiled."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from build_capture.capture.check import check_result
from build_capture.capture.graph import Progress, run_graph
from build_capture.capture.ptxas import check_ptxas, variables_for
from build_capture.capture.records import Description, Kernel, Request, Result
from build_capture.errors import CaptureError, Exit, Place, raise_all
from build_capture.files import locked, make_folder, sha256_of_bytes, sha256_of_file, write_if_changed
from build_capture.plan.needs import Need
from build_capture.process import closed_environment, own_module, run_tool, shorten
from build_capture.targets import Target
from build_capture.zig import PACKAGE

WORKER_FILES = (
    "capture/describe.py",
    "capture/find.py",
    "capture/policy/widths.py",
    "capture/records.py",
    "capture/triton_steps.py",
    "capture/worker.py",
    "errors.py",
    "files.py",
    "plan/needs.py",
    "pointees.py",
    "process.py",
    "steps.py",
)
"""The modules of a worker: they decide how it compiles and what it says of it, so newer ones compile anew."""


class Variant(msgspec.Struct, frozen=True):
    """A need compiled."""

    need: Need
    result: Result
    cubin: bytes
    unspecialized: tuple[str, ...] = ()
    """Ints of which every value fits, since the kernel's decorator names them in `do_not_specialize`."""


class Compiled(msgspec.Struct, frozen=True):
    """All variants of a capture, in the order of their needs."""

    variants: list[Variant]
    compiled: int
    """How many were compiled now."""
    reused: int
    """How many were there already, from the same need, sources and toolchain."""


def describe_kernels(folder: Path, functions: Sequence[str], target: Target, cache: Path, ptxas: Path | None = None) -> Description:
    """Ask Triton about those of `functions` that `folder` defines, in a process of its own."""
    private = cache / "home"
    make_folder(private)
    # The answer goes through a file: whatever a kernel module prints while it is imported is not taken for it. The
    # worker runs in a folder that holds no module.
    with tempfile.TemporaryDirectory(dir=private) as empty:
        answer = Path(empty) / "description.json"
        subject = [folder.resolve(), str(target.capability), answer, *functions]
        run_tool(
            [*own_module("build_capture.capture.worker"), "describe", *subject],
            what=f"reading the kernels in {folder.name}",
            environment=_environment(private, ptxas),
            code=Exit.KERNEL,
            folder=Path(empty),
            speaks=True,
        )
        return msgspec.json.decode(answer.read_bytes(), type=Description)


def compile_needs(
    needs: Sequence[Need],
    description: Description,
    folder: Path,
    target: Target,
    *,
    cache: Path,
    jobs: int,
    progress: Progress,
    ptxas: Path | None = None,
) -> Compiled:
    """Compile every need for `target`; results are kept in `cache` by content, so that only what changed compiles again.

    Raises, all at once, each variant that does not compile or is not what its need asks for (`Exit.KERNEL`).
    """
    kernels = {kernel.function: kernel for kernel in description.kernels}
    state = cache / "variants"
    with locked(state):
        requests = _write_requests(needs, kernels, description, folder.resolve(), target, state)
        missing = [key for key in requests if not _is_current(state / "results" / f"{key}.json", folder)]
        for key in missing:
            (state / "results" / f"{key}.json").unlink(missing_ok=True)
        if missing:
            # An assembler that does not know the target would fail each variant, and Triton then prints the whole program.
            check_ptxas(Path(description.assembler), target, given=description.toolchain.ptxas_given)
            make_folder(state / "home")
            titles = {key: f"{requests[key].function} {requests[key].classes}" for key in missing}
            run_graph(state, titles, jobs=jobs, environment=_environment(state / "home", ptxas), progress=progress)
        variants = _collect(requests, kernels, folder, target, state)
    return Compiled(variants, compiled=len(missing), reused=len(requests) - len(missing))


def _environment(private: Path, ptxas: Path | None) -> dict[str, str]:
    return closed_environment(private, TRITON_DISABLE_LINE_INFO="1", **variables_for(ptxas))


def _write_requests(
    needs: Sequence[Need],
    kernels: dict[str, Kernel],
    description: Description,
    folder: Path,
    target: Target,
    state: Path,
) -> dict[str, Need]:
    """Write a request for each need; returns key -> need. The key holds all but the kernels' sources, which a result records."""
    make_folder(state / "results")
    worker = "".join(sha256_of_file(PACKAGE / name) for name in WORKER_FILES)
    requests = {}
    for need in needs:
        module = kernels[need.function].module
        parts = (need.identity, module, target.name, msgspec.json.encode(description.toolchain).decode(), worker, str(folder))
        key = sha256_of_bytes("\0".join(parts).encode())[:32]
        request = Request(need=need, module=module, folder=str(folder), capability=target.capability)
        write_if_changed(state / "requests" / f"{key}.json", msgspec.json.encode(request))
        requests[key] = need
    return requests


def _is_current(path: Path, folder: Path) -> bool:
    """Whether the result at `path` was compiled from the sources that are there now. Contents decide, not times."""
    if not path.is_file() or not path.with_suffix(".cubin").is_file():
        return False
    try:
        result = msgspec.json.decode(path.read_bytes(), type=Result)
    except msgspec.MsgspecError:
        return False
    sources = ((folder / name, digest) for name, digest in result.sources.items())
    whole = sha256_of_file(path.with_suffix(".cubin")) == result.cubin_sha256
    return whole and all(source.is_file() and sha256_of_file(source) == digest for source, digest in sources)


def _collect(requests: dict[str, Need], kernels: dict[str, Kernel], folder: Path, target: Target, state: Path) -> list[Variant]:
    """Read every result; whatever failed or is not what its need asks for is raised, all of it."""
    variants: list[Variant] = []
    errors: list[CaptureError] = []
    for key, need in requests.items():
        path = state / "results" / f"{key}.json"
        kernel = kernels[need.function]
        place = Place(str(folder / kernel.module), kernel.line)
        if not path.is_file():
            trace = path.with_suffix(".error")
            words = trace.read_text() if trace.is_file() else "the worker process ended without a word"
            errors.append(
                CaptureError(
                    f"{need.function} does not compile for {target.name} ({need.classes})",
                    where=place,
                    detail=shorten(words),
                    code=Exit.KERNEL,
                )
            )
            continue
        result = msgspec.json.decode(path.read_bytes(), type=Result)
        cubin = path.with_suffix(".cubin").read_bytes()
        errors += [
            CaptureError(f"{need.function} ({need.classes}): {problem}", where=place, code=Exit.KERNEL)
            for problem in check_result(need, result, cubin, target)
        ]
        variants.append(Variant(need, result, cubin, tuple(p.name for p in kernel.parameters if p.unspecialized)))
    raise_all(errors)
    return variants
