"""What a doctor finds."""

from __future__ import annotations

from typing import Literal

import msgspec

State = Literal["good", "untested", "bad"]
"""Whether a tool is one that captures are tested with, another that may work, or missing or too old."""


class Tool(msgspec.Struct, frozen=True):
    """A program or package that a capture needs, or can use."""

    name: str
    version: str
    """Empty where it is not there."""
    path: str
    state: State
    note: str = ""
    """Why it is in that state, or what it is for."""
    mend: str = ""
    """What helps; empty where nothing is wrong, or no capture needs it."""


class Assembler(msgspec.Struct, frozen=True):
    """A ptxas of this machine."""

    path: str
    version: str
    """Empty where it does not answer as a ptxas does."""
    origin: str
    """Where it was found: `Triton's ptxas-blackwell`, `PATH`, a variable."""
    assembles: list[str]
    """The targets for which it assembled a tiny program just now."""
    refuses: dict[str, str]
    """The other targets, with what it said."""


class TargetState(msgspec.Struct, frozen=True):
    """Whether a target can be captured for here."""

    target: str
    assembler: str
    """The ptxas that Triton takes for it; empty where Triton does not say."""
    works: bool
    problem: str = ""


class Folder(msgspec.Struct, frozen=True):
    """A folder that a capture writes to."""

    what: str
    path: str
    writable: bool
    problem: str = ""


class Variable(msgspec.Struct, frozen=True):
    """A variable of the environment that changes what Triton does elsewhere."""

    name: str
    value: str | None
    """None where it is not set."""
    elsewhere: str
    """What it does where Triton sees it."""
    here: str
    """What it does to a capture."""


class Gpu(msgspec.Struct, frozen=True):
    """The GPU at hand."""

    name: str
    """Empty where there is none."""
    target: str
    problem: str


class Diagnosis(msgspec.Struct, frozen=True):
    """All that was found."""

    target: str
    """What has to work for exit 0."""
    works: bool
    tools: list[Tool]
    assemblers: list[Assembler]
    targets: list[TargetState]
    gpu: Gpu
    folders: list[Folder]
    variables: list[Variable]
    mends: list[str]
    """What to do before a capture for the target can work, most important first; empty where it can."""
