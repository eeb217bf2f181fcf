"""Asks the Zig reader, which parses with the grammar of the user's own Zig."""

from __future__ import annotations

from pathlib import Path

import msgspec

from build_capture.errors import CaptureError, Place
from build_capture.process import run_tool
from build_capture.read.profile import Profile, profile_from_tree
from build_capture.read.records import Declarations


def read_profile(reader: Path, path: Path) -> Profile:
    """The profile at `path`; a `CaptureError` names each problem with its line and column."""
    check_is_file(path, "a profile (capture.zon)")
    return profile_from_tree(path, msgspec.json.decode(_ask(reader, "profile", path)))


def read_declarations(reader: Path, path: Path) -> Declarations:
    """The methods and launches of the declaration file at `path` and of the siblings that it imports."""
    check_is_file(path, "a declaration file")
    return msgspec.json.decode(_ask(reader, "declarations", path), type=Declarations)


def source_files(reader: Path, profile: Profile, declarations: Declarations) -> list[Path]:
    """The declaration file, rounds.zig where there is one, and every file that either imports."""
    found = {profile.declarations.parent / name for name in declarations.files}
    if profile.rounds is not None:
        found |= {profile.rounds.parent / name for name in read_declarations(reader, profile.rounds).files}
    return sorted(found)


def check_is_file(path: Path, what: str) -> None:
    """Raise a `CaptureError` unless `path` is a file; `what` says what was expected."""
    if not path.is_file():
        raise CaptureError("there is no such file", where=Place(str(path)), mend=f"expected {what}")


def _ask(reader: Path, subcommand: str, path: Path) -> str:
    return run_tool([reader, subcommand, path], what=f"reading {path.name}", speaks=True)
