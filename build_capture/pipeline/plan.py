"""From a profile to needs: what is read, driven and resolved before anything is compiled."""

from __future__ import annotations

from pathlib import Path

import msgspec

from build_capture.capture.compile import describe_kernels
from build_capture.capture.gpu.device import resolve_target
from build_capture.capture.ptxas import check_ptxas
from build_capture.capture.records import Description
from build_capture.plan.needs import Need
from build_capture.plan.plan_domains import DomainPlan, plan_domains
from build_capture.plan.probe import Probed, probe
from build_capture.plan.resolve import refuse_floods, resolve
from build_capture.read.profile import Limits, Profile
from build_capture.read.reader import read_declarations, read_profile, source_files
from build_capture.read.records import Declarations
from build_capture.targets import Target
from build_capture.zig import Zig, cache_of, find_reader, find_zig


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
    cache = cache_of(request.profile.parent, request.cache)
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
