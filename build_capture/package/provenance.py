"""The provenance record of a set: what it was made of, without a date or a path of the machine."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from build_capture.capture.records import Toolchain
from build_capture.files import sha256_of_file
from build_capture.read.profile import Limits, Profile


def provenance(
    profile: Profile,
    limits: Limits,
    toolchain: Toolchain,
    zig_version: str,
    *,
    mode: str,
    zig_files: Iterable[Path],
    kernel_files: Iterable[Path],
    domains: str | None = None,
) -> dict[str, Any]:
    """Versions, limits, and the SHA-256 of every source: of the Zig files relative to the profile, of the kernels to their folder.

    `domains` is the text of `domains.zig`: with it, whoever has the set can test its coverage without Python.
    """
    record = {} if domains is None else {"domains": domains}
    return record | {
        "family": profile.family,
        "limits": msgspec.to_builtins(limits),
        "mode": mode,
        "line_info": False,
        "toolchain": msgspec.to_builtins(toolchain) | {"zig": zig_version},
        "profile": {profile.path.name: sha256_of_file(profile.path)},
        "declarations": source_hashes(zig_files, profile.folder),
        "kernels": source_hashes(kernel_files, profile.kernels),
    }


def source_hashes(files: Iterable[Path], folder: Path) -> dict[str, str]:
    """The SHA-256 of each file, by its path from `folder`."""
    base = folder.resolve()
    return {_name(path.resolve(), base): sha256_of_file(path) for path in sorted(set(files))}


def _name(path: Path, base: Path) -> str:
    """A file's path from `base`; of one that an import found elsewhere the name alone, since its folder is the machine's."""
    return path.relative_to(base).as_posix() if path.is_relative_to(base) else f"(imported)/{path.parent.name}/{path.name}"
