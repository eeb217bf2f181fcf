"""What `build-capture declarations` lists: launches, and the domains of the methods that make them."""

from __future__ import annotations

from pathlib import Path

from build_capture.errors import CaptureError, Place
from build_capture.plan.methods import choose
from build_capture.plan.parameters import callables
from build_capture.plan.show import DeclarationsDocument
from build_capture.plan.table import DomainRow, domain_rows
from build_capture.read.profile import Limits, Profile
from build_capture.read.reader import read_declarations, read_profile
from build_capture.read.records import Declarations
from build_capture.zig import Zig, cache_of, find_reader, find_zig


def list_declarations(file: Path, profile_path: Path | None, zig_name: str | None, reader_name: str | None, cache: Path | None) -> DeclarationsDocument:
    """Read the declaration file `file`; the profile, where there is one, has to be its own."""
    zig = find_zig(zig_name)
    cache = cache_of(file.parent, cache)
    reader = find_reader(reader_name, zig, cache)
    declarations = read_declarations(reader, file)
    profile = bare_profile(file) if profile_path is None else read_profile(reader, profile_path)
    if profile.declarations.resolve() != file.resolve():
        raise CaptureError(f"its .declarations is not {file}", where=Place(str(profile_path)), mend=f"name {profile.declarations}")
    rows = list_domains(zig, reader, profile, profile_path, declarations, cache)
    return DeclarationsDocument(declarations.files, declarations.methods, declarations.launches, rows)


def list_domains(zig: Zig, reader: Path, profile: Profile, profile_path: Path | None, declarations: Declarations, cache: Path) -> list[DomainRow]:
    """What each parameter ranges over; `profile_path` is the profile's file, where there is one that the declarations may import."""
    rounds = read_declarations(reader, profile.rounds) if profile.rounds else None
    found = callables(zig, profile.declarations, profile_path, declarations, cache)
    return domain_rows(choose(found, declarations, rounds, profile), profile)


def bare_profile(file: Path) -> Profile:
    """What a profile says of a declaration file before anybody has written one: nothing."""
    folder = file.parent
    return Profile(
        path=folder / "capture.zon",
        family="",
        declarations=file,
        rounds=None,
        kernels=folder,
        target="",
        limits=Limits(parallel=1, window_rows=1, prompt_rows=0),
        drives_domains=True,
    )
