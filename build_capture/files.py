"""Writing files so that nobody sees half of one, and hashing what is there."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from build_capture.errors import CaptureError, Place


def sha256_of_bytes(data: bytes) -> str:
    """The SHA-256 of `data`, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def sha256_of_file(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal."""
    return sha256_of_bytes(path.read_bytes())


def write_if_changed(path: Path, data: bytes) -> bool:
    """Put `data` at `path` in one step; an unchanged file keeps its time. Returns whether it was written."""
    if path.is_file() and path.read_bytes() == data:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
    return True


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold `folder` for this process alone; another capture that shares it waits its turn."""
    make_folder(folder)
    with (folder / "lock").open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def make_folder(folder: Path) -> None:
    """Create `folder` and its parents; a `CaptureError` names it where that cannot be done."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CaptureError(f"cannot create this folder: {error.strerror}", where=Place(str(folder))) from error


@contextlib.contextmanager
def replaced_folder(folder: Path) -> Iterator[Path]:
    """Yield an empty folder beside `folder` that takes its place, whole, when the block ends without an error."""
    make_folder(folder.parent)
    fresh = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}.new-"))
    try:
        yield fresh
        fresh.chmod(0o755)
        if folder.exists():
            old = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}.old-"))
            os.rename(folder, old / folder.name)
            os.rename(fresh, folder)
            shutil.rmtree(old)
        else:
            os.rename(fresh, folder)
    finally:
        if fresh.exists():
            shutil.rmtree(fresh)
