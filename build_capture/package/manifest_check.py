"""Compares a packaged set with its `manifest.json`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from build_capture.errors import CaptureError
from build_capture.files import sha256_of_file
from build_capture.package.damage import damage
from build_capture.package.manifest import MANIFEST, Manifest, ManifestFile, manifest_for
from build_capture.sets.fields import is_word
from build_capture.sets.model import CapturedSet

_DERIVED = ("target", "digest", "limits", "policy", "toolchain", "sources", "generator")
"""What a manifest repeats of its set."""


def check_manifest(folder: Path, shown: str, captured: CapturedSet, digest: str, sizes: Mapping[str, int]) -> Iterator[CaptureError]:
    """What is wrong between the manifest in `folder` and the files there, `sizes`, one error each."""
    where = f"{shown}/{MANIFEST}"
    try:
        manifest = msgspec.json.decode((folder / MANIFEST).read_bytes(), type=Manifest)
    except (msgspec.DecodeError, RecursionError) as error:
        yield damage(f"it is no manifest: {error}", where)
        return
    if strange := [name for name in manifest.files if not is_local(name)]:
        yield damage(f"it lists {strange[0]!r}, which would leave the folder", where)
        return
    match folder.absolute().parts:
        case (*_, "share", app, "cuda", _) if app != manifest.app:
            yield damage(f"`app` is {manifest.app}, and the folder is {app}'s; engines look below share/{manifest.app}", where)
    differs = False
    there = {name: size for name, size in sizes.items() if name != MANIFEST}
    for name in sorted(set(manifest.files) | set(there)):
        what = _difference(folder / name, manifest.files.get(name), there.get(name))
        if what:
            yield damage(what, f"{shown}/{name}")
            differs = True
    # A changed file explains why the manifest says something else of the set.
    if differs:
        return
    wanted = manifest_for(manifest.app, captured, digest, manifest.files)
    for field in _DERIVED:
        if (found := getattr(manifest, field)) != getattr(wanted, field):
            words = f"`{field}` is {found}; the set's is {getattr(wanted, field)}" if isinstance(found, str) else f"`{field}` is not that of the set"
            yield damage(words, where)


def _difference(path: Path, listed: ManifestFile | None, size: int | None) -> str:
    if size is None:
        return "it is missing; manifest.json lists it"
    if listed is None:
        return "manifest.json does not list it"
    return "" if listed == ManifestFile(sha256_of_file(path), size) else "its bytes are not those that manifest.json lists"


def is_local(name: str) -> bool:
    """Whether a recorded name leads to a file below its folder."""
    return is_word(name) and "\\" not in name and not set(name.split("/")) & {"", ".", ".."}
