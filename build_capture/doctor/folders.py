"""The folders that a capture writes to, and whether it can."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from build_capture.doctor.records import Folder


def find_folders(cache: Path, environment: Mapping[str, str]) -> list[Folder]:
    """The capture's cache, the one that Zig's projects share, and the one for temporary files. None is created."""
    return [
        _folder("cache of captures", cache),
        _folder("cache that Zig's projects share", _zig_global(cache, environment)),
        _folder("temporary files", Path(tempfile.gettempdir())),
    ]


def _zig_global(cache: Path, environment: Mapping[str, str]) -> Path:
    """Where Zig keeps it: by its own variables, else below the capture's cache (zig.py)."""
    if given := environment.get("ZIG_GLOBAL_CACHE_DIR"):
        return Path(given)
    for name, below in (("XDG_CACHE_HOME", "zig"), ("HOME", ".cache/zig")):
        base = environment.get(name)
        if base and Path(base).is_dir():
            return Path(base) / below
    return cache / "zig-global"


def _folder(what: str, path: Path) -> Folder:
    nearest = next(parent for parent in (path.absolute(), *path.absolute().parents) if parent.exists())
    try:
        # Only writing tells: a mount may be read-only whatever the permissions say.
        handle, name = tempfile.mkstemp(dir=nearest, prefix=".build-capture-doctor-")
        os.close(handle)
        os.unlink(name)
    except OSError as error:
        return Folder(what, str(path), False, f"cannot write in {nearest}: {error.strerror}")
    return Folder(what, str(path), True)
