"""The provenance record of a set: what it was made of, without a date or a path of the machine."""

from __future__ import annotations

import os
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
) -> dict[str, Any]:
    """Versions, limits, and the SHA-256 of every source: of the Zig files relative to the profile, of the kernels to their folder."""
    return {
        "family": profile.family,
        "limits": msgspec.to_builtins(limits),
        "mode": mode,
        "line_info": False,
        "toolchain": msgspec.to_builtins(toolchain) | {"zig": zig_version},
        "profile": {profile.path.name: sha256_of_file(profile.path)},
        "declarations": _hashes(zig_files, profile.folder),
        "kernels": _hashes(kernel_files, profile.kernels),
    }


def _hashes(files: Iterable[Path], folder: Path) -> dict[str, str]:
    base = folder.resolve()
    return {Path(os.path.relpath(path.resolve(), base)).as_posix(): sha256_of_file(path) for path in sorted(set(files))}
