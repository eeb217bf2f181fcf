"""From declarations and profile to `domains.zig`, and to the table of what it drives."""

from __future__ import annotations

from pathlib import Path

import msgspec

from build_capture.errors import raise_all
from build_capture.plan.domains import Driven, resolve_domains
from build_capture.plan.driver import write_driver
from build_capture.plan.methods import Choice, choose, faults
from build_capture.plan.parameters import Callable, callables
from build_capture.read.profile import Limits, Profile
from build_capture.read.reader import read_declarations
from build_capture.read.records import Declarations
from build_capture.zig import Zig


class DomainPlan(msgspec.Struct, frozen=True):
    """How the methods of a declaration file are driven."""

    choices: list[Choice]
    driven: list[Driven]
    """Those that are driven over domains."""
    source: str | None
    """The text of `domains.zig`; None where rounds drive everything."""


def plan_domains(reader: Path, zig: Zig, profile: Profile, declarations: Declarations, limits: Limits, cache: Path) -> DomainPlan:
    """Choose how each method is driven and bind the parameters of those that no round calls; raises every problem at once."""
    rounds = read_declarations(reader, profile.rounds) if profile.rounds else None
    found = callables(zig, profile.declarations, profile.path, declarations, cache)
    choices = choose(found, declarations, rounds, profile)
    raise_all(list(faults(choices, profile)))
    if not profile.drives_domains:
        return DomainPlan(choices, [], None)
    every = [choice.callable for choice in choices if choice.callable]
    chosen: list[Callable] = [choice.callable for choice in choices if choice.callable and choice.how == "domains"]
    driven = resolve_domains(chosen, every, profile, limits)
    return DomainPlan(choices, driven, write_driver(driven, with_rounds=profile.rounds is not None))
