"""The names under which a profile gives what a value ranges over."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from build_capture.errors import CaptureError, nearest
from build_capture.plan.leaves import Leaf, leaves_of, unknown_leaves
from build_capture.plan.parameters import Callable
from build_capture.plan.zig_text import zig_string
from build_capture.read.profile import Given, Profile


def key_of(callable_: Callable, leaf: Leaf) -> str:
    """The name, quoted, under which a profile gives one value: a field of the owner itself is the same for all its methods."""
    receiver = callable_.method.receiver
    of_owner = receiver is not None and leaf.path[0] == receiver.name
    return zig_string(".".join(leaf.named_path if of_owner else (callable_.method.name, *leaf.named_path)))


def best_given(callable_: Callable, leaf: Leaf, profile: Profile) -> Given | None:
    """What the profile gives for a value: the most specific name wins, of two the same the first."""
    matches = [(_specificity(given.name, callable_, leaf), given) for given in profile.domains]
    best = max((score for score, _ in matches), default=0)
    return next((given for score, given in matches if score == best), None) if best else None


def _specificity(name: str, callable_: Callable, leaf: Leaf) -> int:
    """How much of a value's full name a key holds; 0 where it names something else."""
    key = tuple(name.split("."))
    method = callable_.method
    prefix = (method.owner, method.name) if method.owner else (method.name,)
    for path in (leaf.path, leaf.named_path):
        full = (*prefix, *path)
        if full[-len(key) :] == key:
            return 2 * len(key)
    # `method.name`, whatever lies between.
    last = leaf.named_path[-1]
    return 2 * len(key) - 1 if key in ((method.name, last), (*prefix, last)) else 0


def unused_givens(driven: Sequence[Callable], every: Sequence[Callable], profile: Profile) -> list[tuple[Given, list[tuple[Callable, Leaf]]]]:
    """What the profile gives and no method of `driven` takes, each with the values of methods that it names all the same."""
    used = [best_given(callable_, leaf, profile) for callable_ in driven for leaf in leaves_of(callable_)]
    found = []
    for given in profile.domains:
        if any(given is one for one in used):
            continue
        values = []
        for callable_ in every:
            leaves = leaves_of(callable_)
            unknown = unknown_leaves(leaves)
            values += [(callable_, leaf) for leaf in leaves if leaf not in unknown and _specificity(given.name, callable_, leaf)]
        found.append((given, values))
    return found


def unknown_names(every: Sequence[Callable], profile: Profile) -> Iterable[CaptureError]:
    """An error for each name of the profile's `.domains` that is no parameter of any method."""
    valid: set[str] = set()
    leaves = [(callable_, leaf) for callable_ in every for leaf in leaves_of(callable_)]
    for callable_, leaf in leaves:
        valid |= {leaf.named_path[-1], f"{callable_.method.name}.{leaf.key}"}
    for given in profile.domains:
        if not any(_specificity(given.name, callable_, leaf) for callable_, leaf in leaves):
            yield CaptureError(f"no method has a parameter {given.name}", where=profile.place(given), mend=nearest(given.name, valid))
