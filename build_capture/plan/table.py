"""The table of domains: what each parameter of each method ranges over, and where that comes from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from build_capture.errors import CaptureError
from build_capture.plan.given import GivenProblem, read_given
from build_capture.plan.infer import example, infer
from build_capture.plan.keys import best_given, key_of, unused_givens
from build_capture.plan.leaves import Leaf, leaves_of, unknown_leaves
from build_capture.plan.methods import Choice
from build_capture.plan.parameters import Callable
from build_capture.plan.pieces import Domain
from build_capture.read.profile import Given, Profile


class DomainRow(msgspec.Struct, frozen=True):
    """What one parameter, or one field of a struct, ranges over."""

    method: str
    """As `Tri.embed`."""
    file: str
    line: int
    parameter: str
    """By its path: `plan.width`."""
    type: str
    """As Zig names it."""
    source: Literal["given", "inferred", "missing", "rounds", "others", "skipped"]
    """`missing` has to be given; `rounds` drives the method, `others` call it, and `skipped` is not driven."""
    domain: str
    """In words; of a missing one, a line that would give it."""
    reason: str


def domain_rows(choices: Sequence[Choice], profile: Profile) -> list[DomainRow]:
    """A row for each parameter that is driven over a domain, and one for each method that is not."""
    every = [choice.callable for choice in choices if choice.callable]
    driven = [choice.callable for choice in choices if choice.callable and choice.how == "domains"]
    unused: dict[str, list[str]] = {}
    for given, values in unused_givens(driven, every, profile):
        for name in {callable_.method.shown for callable_, _ in values}:
            unused.setdefault(name, []).append(f".{given.name}")
    return [row for choice in choices for row in _rows(choice, unused.get(choice.method.shown, []), profile)]


def _rows(choice: Choice, unused: Sequence[str], profile: Profile) -> Iterator[DomainRow]:
    """`unused` are the domains that the profile gives for the method, where nothing takes them."""
    method, callable_ = choice.method, choice.callable
    if choice.how != "domains":
        source: Literal["rounds", "others", "skipped"] = choice.how  # type: ignore[assignment]
        reason = f"{choice.reason}; not used: {', '.join(unused)} of {profile.path.name}" if unused else choice.reason
        yield DomainRow(method.shown, method.file, method.line, "", "", source, "", reason)
    elif callable_ is None:
        yield DomainRow(method.shown, method.file, method.line, "", "", "missing", "", f"{profile.declarations.name} does not give it out")
    else:
        leaves = leaves_of(callable_)
        unknown = unknown_leaves(leaves)
        for index, leaf in enumerate(leaves):
            yield _row(callable_, leaf, index, profile, is_known=leaf not in unknown)


def _row(callable_: Callable, leaf: Leaf, index: int, profile: Profile, *, is_known: bool) -> DomainRow:
    method = callable_.method
    shown_type = f"?{leaf.type.type}" if leaf.optional and not leaf.presence else leaf.type.type

    def row(source: Literal["given", "inferred", "missing"], domain: str, reason: str) -> DomainRow:
        return DomainRow(method.shown, method.file, method.line, leaf.key, shown_type, source, domain, reason)

    if not is_known:
        return row("missing", "", "no domain can give such a type: drive the method in rounds.zig")
    given = best_given(callable_, leaf, profile)
    domain = infer(leaf, index, profile) if given is None else _read(given, leaf, index, profile)
    if domain is None:
        return row("missing", f".@{key_of(callable_, leaf)} = {example(leaf)},", "nothing says what it ranges over")
    return row("given" if domain.given else "inferred", domain.shown, domain.reason)


def _read(given: Given, leaf: Leaf, index: int, profile: Profile) -> Domain:
    try:
        return read_given(given, leaf, index, profile)
    except GivenProblem as problem:
        raise CaptureError(f"the domain of {leaf.key}: {problem}", where=profile.place(given), mend=problem.mend) from problem
