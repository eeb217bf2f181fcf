"""`manifest.json`: what a packaged set is and consists of, beside its `aot.json`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from build_capture import __version__
from build_capture.errors import CaptureError, Place
from build_capture.files import sha256_of_bytes
from build_capture.plan.needs import I64_MAX, I64_MIN
from build_capture.sets.model import SOURCES, CapturedSet

MANIFEST = "manifest.json"
LICENCE = "LICENSE"
README = "README.md"


class ManifestFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file of the folder."""

    sha256: str
    bytes: int


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole of `manifest.json`."""

    app: str
    """Whose set it is."""
    target: str
    """Such as sm_121."""
    digest: str
    """Of the set: the SHA-256 of what `sha256sum aot.json cubins/*.cubin` prints."""
    limits: dict[str, Any]
    """The rounds that the set is complete for."""
    policy: str
    """By which its coverage was made: exact, compact or total."""
    toolchain: dict[str, Any]
    """What compiled it."""
    sources: dict[str, dict[str, str]]
    """The SHA-256 of the profile, of the declarations and of the kernels it was captured from."""
    generator: dict[str, str]
    """What captured it."""
    packager: dict[str, str]
    """What packaged it."""
    files: dict[str, ManifestFile]
    """Every other file of the folder, by its name in it."""


_Whole = Annotated[int, msgspec.Meta(ge=I64_MIN, le=I64_MAX)]


class _Provenance(msgspec.Struct, frozen=True):
    """What a manifest repeats of a set's provenance, as a capture records it."""

    limits: dict[str, _Whole] = {}
    toolchain: dict[str, str | bool | _Whole | None] = {}
    profile: dict[str, str] = {}
    declarations: dict[str, str] = {}
    kernels: dict[str, str] = {}


class _Repeated(msgspec.Struct, frozen=True):
    """What a manifest repeats of `aot.json`."""

    policy: str = ""
    generator: dict[str, str] = {}
    provenance: _Provenance = _Provenance()


def refuse_unrepeatable(text: bytes, where: str) -> None:
    """Raise a `CaptureError` for an `aot.json` that says something else of its making than a capture does: readers take
    that for nothing, and would find that the manifest says something else than the set."""
    try:
        msgspec.json.decode(text, type=_Repeated)
    except msgspec.ValidationError as error:
        raise CaptureError(f"no manifest can repeat what it says of its making: {error}", where=Place(where), mend="capture it anew") from error


def manifest_for(app: str, captured: CapturedSet, digest: str, files: Mapping[str, ManifestFile]) -> Manifest:
    """The manifest of a set that consists of `files`."""
    provenance = captured.provenance
    return Manifest(
        app=app,
        target=captured.target,
        digest=digest,
        limits=provenance.get("limits", {}),
        policy=captured.policy,
        toolchain=provenance.get("toolchain", {}),
        sources=sources_of(captured),
        generator=captured.generator,
        packager={"name": "build-capture", "version": __version__},
        files=dict(sorted(files.items())),
    )


def sources_of(captured: CapturedSet) -> dict[str, dict[str, str]]:
    """The hashes of source files that a set records, by part and name; of a part that is none of that form, nothing."""
    parts = {part: captured.provenance.get(part) for part in SOURCES}
    return {part: files for part, files in parts.items() if isinstance(files, dict) and all(isinstance(sha256, str) for sha256 in files.values())}


def manifest_text(manifest: Manifest) -> bytes:
    """The file's bytes."""
    return msgspec.json.format(msgspec.json.encode(manifest, order="deterministic"), indent=1) + b"\n"


def file_entry(data: bytes) -> ManifestFile:
    """A file as the manifest lists it."""
    return ManifestFile(sha256_of_bytes(data), len(data))
