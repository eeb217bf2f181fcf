"""The way through: from a profile to a set. The command line and the Zig step both come here."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from build_capture.capture.compile import Compiled, compile_needs, describe_kernels
from build_capture.capture.find import kernel_modules
from build_capture.capture.gpu.device import resolve_target
from build_capture.capture.gpu.launch import launch_needs
from build_capture.capture.gpu.mode import Mode, choose_mode, look_for_device
from build_capture.capture.gpu.verify import GpuRecord, verify
from build_capture.capture.graph import Progress
from build_capture.capture.policy.apply import Applied, apply_policy
from build_capture.capture.ptxas import check_ptxas
from build_capture.capture.records import Description
from build_capture.capture.summary import Summary, summary_of
from build_capture.depfile import write_depfile
from build_capture.package.provenance import provenance
from build_capture.plan.needs import Need
from build_capture.plan.plan_domains import DomainPlan, plan_domains
from build_capture.plan.probe import Probed, probe
from build_capture.plan.resolve import refuse_floods, resolve
from build_capture.read.profile import Limits, Policy, Profile
from build_capture.read.reader import read_declarations, read_profile, source_files
from build_capture.read.records import Declarations
from build_capture.sets.pack import pack, refuse_other_folder
from build_capture.targets import Target
from build_capture.zig import PACKAGE, Zig, find_reader, find_zig, zig_sources

class Request(msgspec.Struct, frozen=True):
    """What a user asks for; None where the profile decides."""

    profile: Path
    parallel: int | None
    window_rows: int | None
    target: str | None
    zig: str | None
    reader: str | None
    cache: Path | None
    ptxas: Path | None = None
    """An assembler to use in place of the one that Triton brings."""


class Planned(msgspec.Struct, frozen=True):
    """Everything that is known before anything is compiled."""

    profile: Profile
    limits: Limits
    target: Target
    zig: Zig
    cache: Path
    declarations: Declarations
    zig_files: list[Path]
    """Every Zig file of the consumer that decides what is launched."""
    domains: DomainPlan
    probed: Probed
    description: Description
    needs: list[Need]
    ptxas: Path | None
    """The assembler that the user names, absolute."""


class Opened(msgspec.Struct, frozen=True):
    """A profile, and the tools that look further."""

    zig: Zig
    cache: Path
    reader: Path
    profile: Profile
    limits: Limits


class Looked(msgspec.Struct, frozen=True):
    """What the declarations launch, before anything is known of the kernels."""

    declarations: Declarations
    domains: DomainPlan
    probed: Probed


def open_profile(request: Request) -> Opened:
    """Read the profile, and find the tools."""
    zig = find_zig(request.zig)
    cache = (request.cache or request.profile.parent / ".zig-cache" / "build-capture").resolve()
    reader = find_reader(request.reader, zig, cache)
    profile = read_profile(reader, request.profile)
    limits = Limits(
        parallel=profile.limits.parallel if request.parallel is None else request.parallel,
        window_rows=profile.limits.window_rows if request.window_rows is None else request.window_rows,
        prompt_rows=profile.limits.prompt_rows,
    )
    return Opened(zig, cache, reader, profile, limits)


def look(opened: Opened, *, spans: bool = False) -> Looked:
    """Drive the declarations over the limits, with `spans` to know which rounds ask for each specialization. Needs no Triton."""
    zig, cache, reader, profile, limits = opened.zig, opened.cache, opened.reader, opened.profile, opened.limits
    declarations = read_declarations(reader, profile.declarations)
    domains = plan_domains(reader, zig, profile, declarations, limits, cache)
    probed = probe(zig, profile, declarations, domains.source, limits, cache, spans=spans)
    refuse_floods(probed, profile, declarations)
    return Looked(declarations, domains, probed)


def plan(request: Request, *, spans: bool = False) -> Planned:
    """Read, probe and resolve: the needs of every round within the limits, with `spans` also which rounds those are.

    Nothing is compiled by Triton.
    """
    opened = open_profile(request)
    profile, cache = opened.profile, opened.cache
    target = resolve_target(profile.target if request.target is None else request.target)
    ptxas = request.ptxas.resolve() if request.ptxas else None
    if ptxas is not None:
        check_ptxas(ptxas, target)
    looked = look(opened, spans=spans)
    functions = sorted({need.function for need in looked.probed.needs})
    description = describe_kernels(profile.kernels, functions, target, cache, ptxas)
    needs = resolve(looked.probed, description.kernels, profile, looked.declarations)
    zig_files = source_files(opened.reader, profile, looked.declarations)
    return Planned(
        profile, opened.limits, target, opened.zig, cache, looked.declarations, zig_files, looked.domains, looked.probed, description, needs, ptxas
    )


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
    out = out.resolve()
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
