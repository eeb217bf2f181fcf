"""Which entry of a set a launch takes under each policy, by the rules of engines. zig_bridge/set answers the same; a test compares the two.

- `exact`: the first entry in file order that fits. Launch options play no part, as every engine does.
- `pinned`: entries with other options than the launch pins do not fit; where those that fit differ in an option that
  the launch leaves open, it is ambiguous.
- `fallback`: as `pinned`; where nothing fits, the entry whose every assumption the launch keeps, the one that shares most
  of the launch's hints, then the first in file order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from build_capture.sets.index import Index
from build_capture.sets.launch import Argument, Launch, LaunchConstant
from build_capture.sets.model import SetKernel
from build_capture.sets.rule import Difference, differences, hints_shared, keeps_pins

__all__ = ["Ambiguity", "Argument", "Difference", "Index", "Launch", "LaunchConstant", "Match", "Near", "Policy", "ambiguities", "match", "nearest"]

Policy = Literal["exact", "pinned", "fallback"]

OPTIONS = ("num_warps", "num_stages")


class Match(msgspec.Struct, frozen=True):
    """What a launch gets from a set."""

    kind: Literal["exact", "fallback", "missing", "ambiguous"]
    kernel: SetKernel | None = None
    """The entry that the launch takes; of an ambiguous one the first that fits; None where none serves it."""
    others: tuple[SetKernel, ...] = ()
    """The further entries that fit, in file order."""

    @property
    def entries(self) -> tuple[SetKernel, ...]:
        """All of them."""
        return self.others if self.kernel is None else (self.kernel, *self.others)


class Near(msgspec.Struct, frozen=True):
    """An entry that does not fit, with the reasons."""

    kernel: SetKernel
    differences: tuple[Difference, ...]


class Ambiguity(msgspec.Struct, frozen=True):
    """Something in which the entries that fit a launch differ and of which the launch does not tell what it wants."""

    what: str
    """A launch option, a constexpr, or `code`: the set records nothing in which the entries differ."""
    values: tuple[str, ...]
    """Its value in each of the entries."""
    kernels: tuple[SetKernel, ...]
    """The first entry in file order of each value."""

    def __str__(self) -> str:
        shown = (f"{value} in {kernel.hash[:12]}" for value, kernel in zip(self.values, self.kernels, strict=True))
        return f"{self.what} is {', '.join(shown)}; the launch does not tell which"


def match(index: Index, launch: Launch, policy: Policy) -> Match:
    """The entry that a launch takes under a policy."""
    fitting = index.fitting(launch)
    if policy != "exact":
        fitting = [kernel for kernel in fitting if keeps_pins(kernel, launch)]
    if fitting:
        ambiguous = policy != "exact" and any(len({getattr(kernel, name) for kernel in fitting}) > 1 for name in _open_options(launch))
        return Match("ambiguous" if ambiguous else "exact", fitting[0], tuple(fitting[1:]))
    return _fallback(index, launch) if policy == "fallback" else Match("missing")


def _fallback(index: Index, launch: Launch) -> Match:
    best, most = None, -1
    for kernel in index.of_constexprs(launch):
        shared = hints_shared(kernel, launch) if keeps_pins(kernel, launch) else None
        if shared is not None and shared > most:
            best, most = kernel, shared
    return Match("missing" if best is None else "fallback", best)


def nearest(index: Index, launch: Launch) -> Near | None:
    """The entry of the function with the fewest differences, the first where several have as few; None where the set has no entry of it."""
    best: Near | None = None
    for kernel in index.of_function(launch.function):
        found = tuple(differences(kernel, launch))
        if best is None or len(found) < len(best.differences):
            best = Near(kernel, found)
    return best


def ambiguities(entries: Sequence[SetKernel], launch: Launch) -> tuple[Ambiguity, ...]:
    """In what the `entries` that fit a launch, as far as they keep its pins, differ and the launch does not tell: then file
    order alone decides which one runs.

    An engine that knows the exact rule alone takes the first without a word. What the arguments tell apart (a folded
    int beside a general entry) is no ambiguity: either serves the launch.
    """
    fitting = [kernel for kernel in entries if keeps_pins(kernel, launch)]
    if len(fitting) < 2:
        return ()
    arguments = {argument.name for argument in launch.arguments}
    constants = [kernel.constants for kernel in fitting]
    found = [_apart(name, [str(getattr(kernel, name)) for kernel in fitting], fitting) for name in _open_options(launch)]
    names = sorted({name for each in constants for name in each if name not in arguments}, key=str.encode)
    found += [_apart(name, [each.get(name, "absent") for each in constants], fitting) for name in names]
    by_identity: dict[str, SetKernel] = {}
    for kernel in fitting:
        first = by_identity.setdefault(kernel.identity, kernel)
        if first.hash != kernel.hash:
            found.append(Ambiguity("code", (first.hash[:12], kernel.hash[:12]), (first, kernel)))
    return tuple(ambiguity for ambiguity in found if ambiguity is not None)


def _open_options(launch: Launch) -> list[str]:
    return [name for name in OPTIONS if getattr(launch, name) is None]


def _apart(what: str, values: Sequence[str], kernels: Sequence[SetKernel]) -> Ambiguity | None:
    """The ambiguity of one thing over the entries that fit; None where all have one value."""
    first: dict[str, SetKernel] = {}
    for value, kernel in zip(values, kernels, strict=True):
        first.setdefault(value, kernel)
    return Ambiguity(what, tuple(first), tuple(first.values())) if len(first) > 1 else None
