"""Reads the fields of untrusted JSON objects: every fault is gathered as one line that says where it stands. As zig_bridge/set/fields.zig."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

FILE_NAME = re.compile(r"[A-Za-z0-9_-]+")
"""What may name a file of a set: nothing that leads out of its folder."""

_T = TypeVar("_T")

_SPACE_OR_CONTROL = re.compile(r"[\x00-\x20\x7f]")


class Fault(Exception):
    """A field that is not as it must be; `str()` says where and why."""


class Fields(msgspec.Struct, frozen=True):
    """The fields of one object."""

    object: dict[str, Any]
    place: str
    faults: list[str]
    """Where the faults of optional and required fields go; reading goes on with a stand-in, so that one run tells them all."""

    def fault(self, message: str) -> None:
        """Add a fault of this object."""
        self.faults.append(f"{self.place}: {message}")

    def read(self, name: str, default: Any, check: Callable[[Any], _T], stand_in: _T) -> _T:
        """The field as `check` returns it; `default` where it is absent, unless that is `REQUIRED`. `check` raises a `Fault`."""
        if name not in self.object:
            if default is not REQUIRED:
                absent: _T = default
                return absent
            self.fault(f"`{name}` is missing")
            return stand_in
        try:
            return check(self.object[name])
        except Fault as fault:
            self.fault(f"`{name}` {fault}")
            return stand_in

    def word(self, name: str, default: Any = None) -> str:
        """A string without spaces, as all names are. Required unless a default is given."""
        return self.read(name, REQUIRED if default is None else default, _word, STAND_IN)

    def file_name(self, name: str, default: Any = None) -> str:
        """A string that names a file in the set's folder."""
        return self.read(name, REQUIRED if default is None else default, _file_name, STAND_IN)

    def boolean(self, name: str, default: bool | None = None) -> bool:
        """True or false. Required unless a default is given."""
        return self.read(name, REQUIRED if default is None else default, _boolean, False)

    def whole(self, name: str, smallest: int, largest: int, default: int | None = None) -> int:
        """A whole number in the range. Required unless a default is given."""

        def check(value: Any) -> int:
            if type(value) is not int:
                raise Fault(f"is {article(value)}; expected a whole number")
            if not smallest <= value <= largest:
                raise Fault(f"is {value}; expected {smallest} to {largest}")
            return value

        return self.read(name, REQUIRED if default is None else default, check, smallest)

    def items(self, name: str, default: Any = None) -> list[Any]:
        """A list. Required unless a default is given."""
        return self.read(name, REQUIRED if default is None else default, _list, [])

    def members(self, name: str, default: Any = None) -> dict[str, Any]:
        """An object. Required unless a default is given."""
        return self.read(name, REQUIRED if default is None else default, _object, {})

    def inner(self, value: Any, place: str) -> Fields | None:
        """The fields of an object inside this one; None, and a fault, where it is none."""
        if isinstance(value, dict):
            return Fields(value, place, self.faults)
        self.faults.append(f"{place} is {article(value)}; expected an object")
        return None


STAND_IN = "?"
"""What reading goes on with where a name is missing or none."""

REQUIRED: Any = object()
"""The default of a field that has none."""


def article(value: Any) -> str:
    """A JSON value's kind, as messages name it."""
    if value is None:
        return "null"
    kinds = {bool: "a bool", int: "an integer", str: "a string", list: "a list", dict: "an object"}
    return kinds.get(type(value), "a number that is no integer of 64 bits")


def is_word(text: str) -> bool:
    """Whether a text can be a name: not empty, no space, no control character."""
    return bool(text) and not _SPACE_OR_CONTROL.search(text)


def _word(value: Any) -> str:
    if not isinstance(value, str):
        raise Fault(f"is {article(value)}; expected a string")
    if not value:
        raise Fault("is empty")
    if not is_word(value):
        raise Fault("is no name: it holds a space or a control character")
    return value


def _file_name(value: Any) -> str:
    if not FILE_NAME.fullmatch(_word(value)):
        raise Fault("is no file name; expected letters, digits, - and _")
    return str(value)


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise Fault(f"is {article(value)}; expected true or false")
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise Fault(f"is {article(value)}; expected a list")
    return value


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Fault(f"is {article(value)}; expected an object")
    return value
