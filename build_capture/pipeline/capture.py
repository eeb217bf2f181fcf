"""From a profile to a set."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from build_capture.capture.compile import Compiled, compile_needs
from build_capture.capture.find import kernel_modules
from build_capture.capture.gpu.launch import launch_needs
from build_capture.capture.gpu.mode import Mode, choose_mode, look_for_device
from build_capture.capture.gpu.verify import GpuRecord, verify
from build_capture.capture.graph import Progress
from build_capture.capture.policy.apply import Applied, apply_policy
from build_capture.depfile import write_depfile
from build_capture.files import real_path
from build_capture.package.provenance import provenance
from build_capture.pipeline.plan import Planned, Request, plan
from build_capture.pipeline.summary import Summary, summary_of
from build_capture.plan.needs import Need
from build_capture.read.profile import Policy, Profile
from build_capture.sets.pack import pack, refuse_other_folder
from build_capture.zig import PACKAGE, zig_sources


def capture(
    request: Request,
    out: Path,
    *,
    depfile: Path | None,
    depfile_target: Path | None = None,
    jobs: int | None,
    progress: Progress,
    asked_mode: str = "compile",
    values: Path | None = None,
    policy: Policy | None = None,
) -> Summary:
    """Make the set for `request` in the folder `out`. `jobs` compiles run at a time, one for each processor by default.

    `depfile` is written as Zig reads it; with a `depfile_target`, as Make, Ninja and CMake read it, for that output.
    `policy` says which cubins the set holds (policy/apply.py); None leaves it to the profile. `asked_mode` is `compile`,
    `gpu`, or `auto`, which takes `gpu` where it can. `values` is a folder for what the launches of mode `gpu` take and give.
    """
    started = time.monotonic()
    device = look_for_device(asked_mode)
    # A link to a folder stands for that folder.
    out = real_path(out)
    refuse_other_folder(out)
    planned = plan(request)
    mode = choose_mode(asked_mode, device, planned.target, planned.profile.kernels, values=values is not None)
    policy = policy or planned.profile.policy
    applied = apply_policy(policy, planned.needs, planned.description.kernels, _compiler(planned, jobs or os.cpu_count() or 1, progress))
    launched = _launch(planned, applied, mode, values, progress) if mode.name == "gpu" else None
    kernel_files = _kernel_files(planned.profile, applied)
    record = provenance(
        planned.profile,
        planned.limits,
        planned.description.toolchain,
        planned.zig.version,
        mode=mode.name,
        zig_files=planned.zig_files,
        kernel_files=kernel_files,
        domains=planned.domains.source,
    )
    if read := _globals(applied):
        record["globals"] = read
    if launched is not None:
        record["gpu"] = msgspec.to_builtins(launched)
    total = pack(applied.variants, planned.target, record, out, policy=policy, aliases=applied.aliases)
    if depfile is not None:
        toolchain_files = map(Path, planned.description.toolchain_files)
        inputs = [planned.profile.path, *planned.zig_files, *kernel_files, *kernel_modules(planned.profile.kernels), *toolchain_files, *_own_files()]
        write_depfile(depfile, depfile_target or out, inputs, for_make=depfile_target is not None)
    return summary_of(planned, applied, mode, launched, out, total, time.monotonic() - started)


def _compiler(planned: Planned, jobs: int, progress: Progress) -> Callable[[Sequence[Need]], Compiled]:
    """What compiles codes of these kernels for this target."""

    def compile_codes(codes: Sequence[Need]) -> Compiled:
        return compile_needs(
            codes,
            planned.description,
            planned.profile.kernels,
            planned.target,
            cache=planned.cache,
            jobs=jobs,
            progress=progress,
            ptxas=planned.ptxas,
        )

    return compile_codes


def _launch(planned: Planned, applied: Applied, mode: Mode, values: Path | None, progress: Progress) -> GpuRecord:
    """Launch every need, all further code of the set and the family's rounds; raises what is wrong with any of them."""
    profile, kernels = planned.profile, planned.description.kernels
    exact = {variant.result.hash for variant in applied.exact}
    further = [variant for variant in applied.variants if variant.result.hash not in exact]
    needs = [*planned.needs, *(variant.need for variant in further)]
    answer = launch_needs(
        needs,
        kernels,
        profile.kernels,
        planned.limits,
        planned.target,
        cache=planned.cache,
        values=values,
        progress=progress,
        ptxas=planned.ptxas,
    )
    return verify(applied.exact, further, answer, kernels, profile.kernels, mode.device)


def _kernel_files(profile: Profile, applied: Applied) -> list[Path]:
    names = {name for variant in applied.variants for name in variant.result.sources}
    return sorted(profile.kernels / name for name in names)


def _globals(applied: Applied) -> dict[str, dict[str, str]]:
    """The module-level constants that each kernel reads, of those that read any."""
    found: dict[str, dict[str, str]] = {}
    for variant in applied.variants:
        if variant.result.globals:
            found.setdefault(variant.need.function, {}).update(variant.result.globals)
    return {function: found[function] for function in sorted(found)}


def _own_files() -> Iterable[Path]:
    """This project's own sources: a newer build-capture captures anew."""
    return [*sorted(PACKAGE.rglob("*.py")), *sorted(zig_sources().rglob("*.zig"))]
