"""Failures that a user can mend: what is wrong, where, and how to mend it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum


class Exit(IntEnum):
    """Exit codes of the command line."""

    GOOD = 0
    OUR_FAULT = 1
    INPUT = 2
    NOT_COVERED = 3
    TOOL = 4
    KERNEL = 5


@dataclass(frozen=True, order=True)
class Place:
    """A position in a file, as a compiler names it."""

    file: str
    line: int = 0
    """1-based; 0 where the file as a whole is meant."""
    column: int = 0
    """1-based; 0 where the line as a whole is meant."""

    def __str__(self) -> str:
        parts = [self.file] + [str(number) for number in (self.line, self.column) if number]
        return ":".join(parts)


class CaptureError(Exception):
    """One expected failure. `str()` gives the line that the user sees."""

    def __init__(
        self,
        what: str,
        *,
        where: Place | None = None,
        mend: str = "",
        detail: str = "",
        code: Exit = Exit.INPUT,
        whole: bool = False,
    ) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.mend = mend
        self.detail = detail
        """Lines shown below the message, such as what a tool printed."""
        self.code = code
        self.whole = whole
        """Whether `what` is a complete message, as a tool of ours printed it."""

    def __str__(self) -> str:
        if self.whole:
            return self.what
        place = f"{self.where}: " if self.where else ""
        mend = f"; {self.mend}" if self.mend else ""
        detail = "".join(f"\n    {line}" for line in self.detail.splitlines())
        return f"{place}error: {self.what}{mend}{detail}"


class CaptureErrors(CaptureError):
    """Several failures of one run, reported together, sorted by place."""

    def __init__(self, errors: Iterable[CaptureError]) -> None:
        self.errors = sorted(errors, key=lambda error: (error.where or Place(""), error.what))
        assert self.errors, "a group of failures holds at least one"
        super().__init__(self.errors[0].what, code=max(error.code for error in self.errors))

    def __str__(self) -> str:
        lines = [str(error) for error in self.errors]
        if len(lines) > 1:
            lines.append(f"{len(lines)} errors")
        return "\n".join(lines)


def raise_all(errors: list[CaptureError]) -> None:
    """Raise what was gathered: nothing, the one error, or all of them as one."""
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise CaptureErrors(errors)


def nearest(name: str, valid: Iterable[str]) -> str:
    """A hint for an unknown name: the nearest valid names, or all of them where none is near."""
    names = sorted(valid)
    if not names:
        return "there are none"
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    return f"did you mean {' or '.join(close)}?" if close else f"expected one of {', '.join(names)}"
