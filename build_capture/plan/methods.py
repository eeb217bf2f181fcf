"""Which methods rounds drive, which are driven over domains, and which are reached through others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from build_capture.errors import CaptureError, Place, nearest
from build_capture.plan.leaves import leaves_of, unknown_leaves
from build_capture.plan.parameters import Callable
from build_capture.read.profile import Profile
from build_capture.read.records import Declarations, Method


class Choice(msgspec.Struct, frozen=True):
    """How one method is driven."""

    method: Method
    callable: Callable | None
    """What Zig says of it; None where the declaration file does not give it out."""
    how: str
    """`rounds`, `domains`, `others` (reached through methods that call it) or `skipped`."""
    reason: str


def choose(found: Sequence[Callable | Method], declarations: Declarations, rounds: Declarations | None, profile: Profile) -> list[Choice]:
    """How each public method is driven. `rounds` is what the reader says of rounds.zig."""
    by_rounds = called_by_rounds(declarations, rounds, profile)
    skipped = {given.name for given in profile.skip}
    called = {name for method in declarations.methods for name in method.calls}
    choices = []
    for entry in found:
        callable_ = entry if isinstance(entry, Callable) else None
        method = entry.method if isinstance(entry, Callable) else entry
        is_called = method.name in called
        if skipped & {method.name, method.shown}:
            how, reason = "skipped", "the profile's .skip"
        elif method.name in by_rounds:
            how, reason = "rounds", "rounds.zig calls it"
        elif callable_ is None and is_called:
            how, reason = "others", "its file gives it to the methods that call it alone"
        elif callable_ is not None and is_called and unknown_leaves(leaves_of(callable_)):
            how, reason = "others", "it hands on what its callers make"
        else:
            how, reason = "domains", "no round calls it" if rounds else "there is no rounds.zig"
        choices.append(Choice(method, callable_, how, reason))
    return choices


def called_by_rounds(declarations: Declarations, rounds: Declarations | None, profile: Profile) -> set[str]:
    """The names of the methods that rounds.zig calls, and of those that these call in turn."""
    if rounds is None or profile.rounds is None:
        return set()
    declared = {(profile.declarations.parent / name).resolve() for name in declarations.files}
    folder = profile.rounds.parent
    calls = {method.name: method.calls for method in declarations.methods}
    waiting = [name for method in rounds.methods if (folder / method.file).resolve() not in declared for name in method.calls]
    reached: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += calls.get(name, [])
    return reached


def faults(choices: Sequence[Choice], profile: Profile) -> Iterable[CaptureError]:
    """What is wrong with the choice: a method out of reach, or one that nothing drives; and unknown names in `.skip`."""
    known = {name for choice in choices for name in (choice.method.name, choice.method.shown)}
    for given in profile.skip:
        if given.name not in known:
            yield CaptureError(f"there is no public method {given.name} to skip", where=profile.place(given), mend=nearest(given.name, known))
    for choice in choices:
        method = choice.method
        place = Place(str(profile.declarations.parent / method.file), method.line, method.column)
        if choice.how == "domains" and choice.callable is None:
            name = Path(method.file).stem
            yield CaptureError(
                f"{method.shown} is out of reach: {profile.declarations.name} does not give it out, and no method calls it",
                where=place,
                mend=f'add `pub const {name} = @import("{method.file}");` there, or leave it out with .skip = .{{ "{method.name}" }}',
            )
        elif choice.how == "domains" and not profile.drives_domains:
            assert profile.rounds is not None, "without it, domains drive every method"
            yield CaptureError(
                f"{profile.rounds.name} does not call {method.shown}",
                where=place,
                mend=f"call it in `drive`, or say in .domains of {profile.path.name} what a parameter of it ranges over, so that it is driven over domains",
            )
