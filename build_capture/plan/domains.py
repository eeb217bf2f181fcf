"""Domains: what each parameter of a method ranges over, given by the profile or inferred, with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from build_capture.errors import CaptureError, Place, nearest, raise_all
from build_capture.plan import formula
from build_capture.plan.formula import FormulaProblem, Interval
from build_capture.plan.given import GivenProblem, read_given
from build_capture.plan.infer import example, infer
from build_capture.plan.keys import best_given, key_of, unknown_names, unused_givens
from build_capture.plan.leaves import LEAVES_MAX, Leaf, leaves_of, unknown_leaves
from build_capture.plan.parameters import Callable
from build_capture.plan.pieces import Domain, misfit
from build_capture.read.profile import Given, Limits, Profile

I32_MAX = (1 << 31) - 1
"""The greatest int that Triton passes as i32; a greater one makes another variant."""

CALLS_MAX = 8 << 20
"""Calls of one method. The driver counts them as well; see `calls_of_method_max` in zig_bridge/coverage/domains.zig."""


OPTIONAL_STRUCTS_MAX = 8
"""Structs of one method that may be null: each doubles the text of the driver."""


class Bound(msgspec.Struct, frozen=True):
    """A parameter's value with its domain."""

    leaf: Leaf
    domain: Domain
    names: dict[str, str]
    """What each name in the domain's formulas is: `leaf:<key>`, `limit:<name>` or `geometry:<path>`."""
    bounds: Interval | None
    """The least and the greatest whole number, perhaps wider than what is reached; None for what is no number."""
    count: int
    """How many values there are at the most."""

    @property
    def only(self) -> int | None:
        """The whole number that is its only value and a plain one, if it is that."""
        plain = self.count == 1 and len(self.domain.pieces) == 1 and not self.names
        return self.bounds[0] if self.bounds and plain and self.domain.pieces[0].stop is None else None


class Driven(msgspec.Struct, frozen=True):
    """A method with the domains of all its values, those that others' formulas refer to first."""

    callable: Callable
    bound: list[Bound]

    @property
    def count(self) -> int:
        """How many calls its domains make at the most."""
        total = 1
        for bound in self.bound:
            total *= bound.count
        return total


def resolve_domains(callables: Sequence[Callable], every: Sequence[Callable], profile: Profile, limits: Limits) -> list[Driven]:
    """Bind every value of `callables`; raises, all at once, what is unbound, unknown or wrong.

    `every` holds all methods, those that rounds drive as well: what the profile gives for them is no mistake.
    """
    errors: list[CaptureError] = [*unknown_names(every, profile), *_unused_faults(callables, every, profile, limits)]
    driven = []
    for callable_ in callables:
        problems: list[CaptureError] = []
        bound = _bind_method(callable_, profile, limits, problems)
        if not problems:
            driven.append(Driven(callable_, bound))
            problems += _too_many(driven[-1], profile)
        errors += problems
    raise_all(errors)
    return driven


def _unused_faults(callables: Sequence[Callable], every: Sequence[Callable], profile: Profile, limits: Limits) -> Iterable[CaptureError]:
    """What is wrong with domains that none of `callables` takes: such a domain has to fit a method that is driven otherwise."""
    for given, values in unused_givens(callables, every, profile):
        faults = []
        for callable_, leaf in values:
            errors: list[CaptureError] = []
            leaves = leaves_of(callable_)
            domain = _read(given, callable_, leaf, leaves.index(leaf), profile, errors)
            if domain is not None:
                _names(callable_, leaf, domain, leaves, profile, limits, errors)
            faults.append(errors)
        if faults and all(faults):
            yield from faults[0]


def method_place(callable_: Callable, profile: Profile) -> Place:
    """Where a method stands."""
    method = callable_.method
    return Place(str(profile.declarations.parent / method.file), method.line, method.column)


def _bind_method(callable_: Callable, profile: Profile, limits: Limits, errors: list[CaptureError]) -> list[Bound]:
    leaves = leaves_of(callable_)
    shown = callable_.method.shown
    for leaf in unknown_leaves(leaves):
        errors.append(
            CaptureError(
                f"no domain can give {leaf.key} of {shown}: its type is {leaf.type.type}",
                where=method_place(callable_, profile),
                mend=f'drive the method in rounds.zig, or leave it out with .skip = .{{ "{callable_.method.name}" }} where others call it',
            )
        )
    structs = sum(leaf.presence for leaf in leaves)
    if len(leaves) > LEAVES_MAX or structs > OPTIONAL_STRUCTS_MAX:
        errors.append(
            CaptureError(
                f"{shown} takes {len(leaves)} values or more, in {structs} structs that may be null; "
                f"at most {LEAVES_MAX} and {OPTIONAL_STRUCTS_MAX} are driven over domains",
                where=method_place(callable_, profile),
                mend="drive it in rounds.zig",
            )
        )
    if errors:
        return []
    domains: dict[str, Domain] = {}
    for index, leaf in enumerate(leaves):
        given = best_given(callable_, leaf, profile)
        domain = infer(leaf, index, profile) if given is None else _read(given, callable_, leaf, index, profile, errors)
        if domain is not None:
            domains[_identity(leaf)] = domain
        elif given is None:
            errors.append(_unbound(callable_, leaf, profile))
    return [] if errors else _order(callable_, leaves, domains, profile, limits, errors)


def _read(given: Given, callable_: Callable, leaf: Leaf, index: int, profile: Profile, errors: list[CaptureError]) -> Domain | None:
    """The domain that the profile gives for the value at `index`; None where there is something wrong with it."""
    try:
        return read_given(given, leaf, index, profile)
    except GivenProblem as problem:
        place = Place(str(profile.path), *problem.position)
        errors.append(CaptureError(f"the domain of {leaf.key} of {callable_.method.shown}: {problem}", where=place, mend=problem.mend))
        return None


def _identity(leaf: Leaf) -> str:
    return f"{leaf.key}?" if leaf.presence else leaf.key


def _unbound(callable_: Callable, leaf: Leaf, profile: Profile) -> CaptureError:
    method = callable_.method
    return CaptureError(
        f"nothing says what {leaf.key} ({leaf.type.type}) of {method.shown} ranges over",
        where=method_place(callable_, profile),
        mend=f"add to .domains in {profile.path.name}: .@{key_of(callable_, leaf)} = {example(leaf)},",
    )


def _order(
    callable_: Callable,
    leaves: list[Leaf],
    domains: dict[str, Domain],
    profile: Profile,
    limits: Limits,
    errors: list[CaptureError],
) -> list[Bound]:
    """Bind the values one after the other, each after those that its formulas refer to."""
    known: dict[str, Interval] = {}
    bound: list[Bound] = []
    waiting = list(leaves)
    while waiting and not errors:
        left = []
        for leaf in waiting:
            domain = domains[_identity(leaf)]
            names = _names(callable_, leaf, domain, leaves, profile, limits, errors)
            needed = [what.removeprefix("leaf:") for what in names.values() if what.startswith("leaf:")]
            if errors or any(key not in known for key in needed):
                left.append(leaf)
                continue
            bound.append(_bind(callable_, leaf, domain, names, known, profile, limits, errors))
            if bound[-1].bounds and not leaf.optional:
                known[leaf.key] = bound[-1].bounds
        if len(left) == len(waiting) and not errors:
            cycle = ", ".join(leaf.key for leaf in left)
            errors.append(
                CaptureError(
                    f"the formulas of {cycle} of {callable_.method.shown} wait for each other",
                    where=Place(str(profile.path)),
                    mend="give one of them as numbers; a formula cannot refer to what may be null",
                )
            )
        waiting = left
    return bound


def _names(
    callable_: Callable,
    leaf: Leaf,
    domain: Domain,
    leaves: list[Leaf],
    profile: Profile,
    limits: Limits,
    errors: list[CaptureError],
) -> dict[str, str]:
    """What the names of a domain's formulas stand for: another value of the method, a limit, or a number of the geometry."""
    found: dict[str, str] = {}
    structs = [other.path for other in leaves if other.presence]
    around = [path for path in structs if leaf.path[: len(path)] == path]
    # What lies in a struct that may be null is there for the formulas of that struct alone.
    whole = [
        other
        for other in leaves
        if other.is_whole and other is not leaf and all(path in around for path in structs if other.path[: len(path)] == path)
    ]
    fields = msgspec.structs.fields(limits)
    for name in {name for part in domain.formulas for name in part.names}:
        exact = [other for other in whole if other.key == name]
        others = exact or [other for other in whole if other.path[-1] == name]
        if len(others) == 1:
            found[name] = f"leaf:{others[0].key}"
        elif others:
            keys = " or ".join(other.key for other in others)
            errors.append(_formula_fault(callable_, leaf, domain, f"{name} is more than one parameter", f"write {keys}", profile))
        elif any(field.name == name for field in fields):
            found[name] = f"limit:{name}"
        elif isinstance(profile.geometry.get(name.removeprefix("geometry.")), int):
            found[name] = f"geometry:{name.removeprefix('geometry.')}"
        else:
            valid = [other.key for other in whole] + [field.name for field in fields] + list(profile.geometry)
            errors.append(_formula_fault(callable_, leaf, domain, f"there is no {name} to calculate with", nearest(name, valid), profile))
    return found


def _formula_fault(callable_: Callable, leaf: Leaf, domain: Domain, what: str, mend: str, profile: Profile) -> CaptureError:
    place = Place(str(profile.path), *domain.position) if domain.given else method_place(callable_, profile)
    return CaptureError(f"the domain of {leaf.key} of {callable_.method.shown}: {what}", where=place, mend=mend)


def _bind(
    callable_: Callable,
    leaf: Leaf,
    domain: Domain,
    names: dict[str, str],
    known: dict[str, Interval],
    profile: Profile,
    limits: Limits,
    errors: list[CaptureError],
) -> Bound:
    if not leaf.is_whole:
        return Bound(leaf, domain, names, None, len(domain.values))
    intervals: dict[str, Interval] = {}
    for name, what in names.items():
        kind, _, key = what.partition(":")
        number = getattr(limits, key) if kind == "limit" else profile.geometry.get(key)
        intervals[name] = known[key] if kind == "leaf" else (number, number)
    try:
        bounds, count = _extent(domain, intervals)
        outside = misfit(domain, leaf.type, intervals)
    except FormulaProblem as problem:
        errors.append(_formula_fault(callable_, leaf, domain, str(problem), "make it at least 1", profile))
        return Bound(leaf, domain, names, None, 0)
    if bounds is None and not domain.null:
        errors.append(_formula_fault(callable_, leaf, domain, "it holds no value", "expected .to to be at least .from", profile))
    elif outside is not None:
        errors.append(_formula_fault(callable_, leaf, domain, f"{outside} does not fit {leaf.type.type}", "give what fits", profile))
    elif bounds and not leaf.is_address and bounds[0] <= I32_MAX < bounds[1]:
        crossing = f"{bounds[0]}..{bounds[1]} crosses the width of an i32 at {I32_MAX}, where Triton compiles another variant"
        errors.append(_formula_fault(callable_, leaf, domain, crossing, f"end it at {I32_MAX}, or pass a u64", profile))
    return Bound(leaf, domain, names, bounds, count + domain.null)


def _extent(domain: Domain, names: dict[str, Interval]) -> tuple[Interval | None, int]:
    """Bounds of a domain's whole numbers, and how many there are at the most."""
    lows, highs, count = [], [], 0
    for piece in domain.pieces:
        low, high = formula.interval(piece.start.tree, names)
        if piece.stop is None:
            count += 1
        else:
            high = formula.interval(piece.stop.tree, names)[1]
            if high < low:
                continue
            count += (high - low) // piece.step + 1
        lows.append(low)
        highs.append(high)
    return ((min(lows), max(highs)) if lows else None), count


def _too_many(driven: Driven, profile: Profile) -> Iterable[CaptureError]:
    if driven.count > CALLS_MAX:
        widest = sorted(driven.bound, key=lambda bound: -bound.count)[:4]
        sizes = ", ".join(f"{bound.leaf.key} takes {bound.count:,}" for bound in widest if bound.count > 1)
        yield CaptureError(
            f"{driven.callable.method.shown} would be called {driven.count:,} times, once for each combination; at most {CALLS_MAX:,} are made",
            where=method_place(driven.callable, profile),
            mend=f"narrow its domains in {profile.path.name} ({sizes}), or drive it in rounds.zig",
        )
