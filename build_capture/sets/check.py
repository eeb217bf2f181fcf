"""Whether a set covers what is launched: every launch of every round within the limits, and every cubin what the set says of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from build_capture.pipeline.plan import Planned
from build_capture.plan.show import show_witness
from build_capture.read.profile import Limits
from build_capture.sets.inspect import inspect_set
from build_capture.sets.launch import Launch
from build_capture.sets.limits import recorded_limits
from build_capture.sets.match import OPTIONS, Index, Match, Policy, ambiguities, match, nearest
from build_capture.sets.model import SetKernel
from build_capture.sets.needed import launches_of
from build_capture.sets.read import ReadSet, refuse_target
from build_capture.targets import Target

Kind = Literal["missing", "general", "ambiguous", "cubin", "pins", "alias", "unused"]

FAILS: tuple[Kind, ...] = ("missing", "ambiguous", "cubin")
"""What keeps a set from being covered. The rest is told: code that assumes less than it could, launch options that some engines do
not look at, and entries that nothing asks for."""


class Finding(msgspec.Struct, frozen=True):
    """One thing to know about a set."""

    kind: Kind
    what: str
    """The need, the entry or the cubin that it is about."""
    why: str
    witness: str | None = None
    """The first round that asks for it; None for an entry or a cubin."""
    launches: int = 0
    """How many launches of the rounds within the limits it concerns."""


class Checked(msgspec.Struct, frozen=True):
    """What a set is worth for a profile and limits."""

    set: str
    target: str
    rule: Policy
    """By which launches were matched."""
    limits: Limits | None
    """None where the declarations alone were looked at."""
    needs: int
    served: int
    """How many of them some entry serves."""
    entries: int
    cubins: int
    """How many cubins were opened."""
    findings: list[Finding]
    notes: list[str]
    policy: str = ""
    """Of the set: which aliases it holds; empty where it does not say, as `recorded` is null."""
    recorded: Limits | None = None
    """What the set was captured for."""

    @property
    def covered(self) -> bool:
        """Whether nothing fails. A check that checked nothing is no pass."""
        return self.needs > 0 and self.cubins > 0 and not any(finding.kind in FAILS for finding in self.findings)


def check_set(read: ReadSet, planned: Planned, rule: Policy) -> Checked:
    """Match every launch that the plan's rounds make, and open every cubin."""
    refuse_target(read, planned.target)
    index = Index(read.captured.kernels)
    findings = []
    used: set[int] = set()
    unserved: set[int] = set()
    for place, launch in launches_of(planned):
        need = planned.needs[place]
        got = match(index, launch, rule)
        used |= {id(kernel) for kernel in got.entries}
        for kind, why in faults_of(index, launch, rule, got):
            findings.append(Finding(kind, need.identity, why, show_witness(need.witness), need.launches))
            if kind in FAILS:
                unserved.add(place)
    findings += [*_unused(read.captured.kernels, used), *check_cubins(read, planned.target)]
    return Checked(
        set=str(read.folder),
        target=planned.target.name,
        rule=rule,
        limits=planned.limits,
        needs=len(planned.needs),
        served=len(planned.needs) - len(unserved),
        entries=len(read.captured.kernels),
        cubins=len({kernel.hash for kernel in read.captured.kernels}),
        findings=findings,
        notes=list(read.notes),
        policy=read.captured.policy,
        recorded=recorded_limits(read.captured),
    )


def faults_of(index: Index, launch: Launch, rule: Policy, got: Match) -> Iterator[tuple[Kind, str]]:
    """What a launch meets that it should not, where it gets this under the rule."""
    if got.kernel is None:
        yield "missing", _nearest(index, launch)
        return
    if got.kind == "fallback":
        yield "general", f"only {got.kernel.hash[:12]}, which assumes less, serves it"
    apart = ambiguities(got.entries, launch)
    if got.kind == "ambiguous" or apart:
        yield "ambiguous", "; ".join(map(str, apart)) or "entries of other options fit it as well"
    elif rule == "exact":
        unpinned = msgspec.structs.replace(launch, num_warps=None, num_stages=None)
        options = [str(one) for one in ambiguities(got.entries, unpinned) if one.what in OPTIONS]
        if options:
            yield "pins", f"{'; '.join(options)}: the launch pins it, and an engine that heeds no pins takes {got.kernel.hash[:12]}, the first"


def _nearest(index: Index, launch: Launch) -> str:
    near = nearest(index, launch)
    if near is None:
        return f"the set has no entry of {launch.function}"
    return f"the nearest entry is {near.kernel.hash[:12]}: {'; '.join(map(str, near.differences))}"


def _unused(kernels: Sequence[SetKernel], used: set[int]) -> Iterator[Finding]:
    """The entries that no need uses, and those that further launches may: aliases, and the code that only aliases bring in."""
    behind = {kernel.hash for kernel in kernels if kernel.alias}
    for kernel in kernels:
        if id(kernel) in used:
            continue
        if kernel.alias:
            yield Finding("alias", kernel.identity, "an alias for launches beyond these limits")
        elif kernel.hash in behind:
            yield Finding("alias", kernel.identity, "its code serves launches by its aliases")
        else:
            yield Finding("unused", kernel.identity, "no round within the limits asks for it")


def check_cubins(read: ReadSet, target: Target) -> Iterator[Finding]:
    """What is wrong with the cubins of a set, one finding for each."""
    found = inspect_set(read, target)
    if found.other is not None:
        yield Finding("cubin", read.path.name, f"found sm{found.other}, need {target.folder}: all its cubins are for that GPU")
    yield from (Finding("cubin", name, problem) for name, problem in found.problems)


def counts(checked: Checked) -> Counter[str]:
    """How many findings there are of each kind."""
    return Counter(finding.kind for finding in checked.findings)
