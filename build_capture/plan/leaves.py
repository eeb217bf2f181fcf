"""The single values that a method takes: its parameters, with every struct and array opened."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from build_capture.plan.parameters import Callable, Field, Type

LEAVES_MAX = 256
"""A method with more values than this is driven by rounds.zig, which knows what belongs together."""


class Leaf(msgspec.Struct, frozen=True):
    """One value of a method's parameters."""

    path: tuple[str, ...]
    """The parameter and the fields that lead to the value: `("plan", "width")`; elements of an array by number."""
    type: Type
    """Without the optional around it."""
    optional: bool
    """Whether the value may be null."""
    presence: bool = False
    """Whether this is no value but whether a struct that may be null is there."""

    @property
    def key(self) -> str:
        """As a profile names it: `plan.width`."""
        return ".".join(self.path)

    @property
    def named_path(self) -> tuple[str, ...]:
        """The path without numbers of elements: what is given for an array is given for each of them."""
        path = self.path
        while path[-1].isdigit():
            path = path[:-1]
        return path

    @property
    def is_whole(self) -> bool:
        """Whether it ranges over whole numbers: an int or an address."""
        return self.type.kind == "int" and not self.presence

    @property
    def is_address(self) -> bool:
        """Whether it is taken for an address where nothing else is said."""
        return self.is_whole and self.type.type == "u64"


def leaves_of(callable_: Callable) -> list[Leaf]:
    """The values that a domain has to be known for, in the order of the parameters. Sets, probes and streams are supplied."""
    found: list[Leaf] = []
    for parameter in callable_.parameters:
        _open(parameter.value, (parameter.name,), False, found)
    return found


def _open(type_: Type, path: tuple[str, ...], optional: bool, found: list[Leaf]) -> None:
    if type_.kind in ("set", "probe", "stream") or len(found) > LEAVES_MAX:
        return
    if type_.kind == "optional" and type_.child and not optional:
        if _supplied(type_.child):
            return
        if opened := _opened(type_.child):
            found.append(Leaf(path, type_, optional=True, presence=True))
            _open(opened, path, False, found)
        else:
            _open(type_.child, path, True, found)
    elif type_.kind == "pointer" and type_.child and (_supplied(type_.child) or _is_writable_here(type_, path)):
        _open(type_.child, path, False, found)
    elif type_.kind == "struct":
        for field in type_.fields:
            _open(field.value, (*path, field.name), False, found)
    elif type_.kind == "array" and type_.child and type_.length <= LEAVES_MAX:
        for index in range(type_.length):
            _open(type_.child, (*path, str(index)), False, found)
    else:
        found.append(Leaf(path, type_, optional))


def _is_writable_here(type_: Type, path: tuple[str, ...]) -> bool:
    """Whether a value of the driver's own can stand behind the pointer: always if it is const, else only for a parameter."""
    assert type_.child is not None, "a pointer to one thing"
    return type_.child.kind == "struct" and (len(path) == 1 or type_.type.startswith("*const "))


def _supplied(type_: Type) -> bool:
    """Whether the driver itself has such a value."""
    inner = type_.child if type_.kind == "pointer" else type_
    return inner is not None and inner.kind in ("set", "probe", "stream")


def _opened(type_: Type) -> Type | None:
    """The struct or array that a value is, perhaps through a pointer."""
    inner = type_.child if type_.kind == "pointer" else type_
    return type_ if inner is not None and inner.kind in ("struct", "array") else None


SCALARS = ("int", "float", "bool", "enum", "text")
"""Kinds of values that a domain can give."""


def unknown_leaves(leaves: list[Leaf]) -> list[Leaf]:
    """The values that no domain can give."""
    return [leaf for leaf in leaves if not leaf.presence and leaf.type.kind not in SCALARS]


def holds_set(fields: Iterable[Field]) -> bool:
    """Whether a set is among parameters or fields: a probe beside it is the other way to launch."""
    return any(_reaches(field.value, "set") for field in fields)


def _reaches(type_: Type, kind: str) -> bool:
    if type_.kind == kind:
        return True
    return type_.kind in ("pointer", "optional") and type_.child is not None and _reaches(type_.child, kind)
