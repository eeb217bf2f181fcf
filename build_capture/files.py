"""Writing files so that nobody sees half of one, and hashing what is there."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from build_capture.errors import CaptureError, Place
from build_capture.steps import shown


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
    make_folder(path.parent)
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise CaptureError(f"cannot write here: {error.strerror}", where=Place(str(path))) from error
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
    try:
        stream = (folder / "lock").open("w")
    except OSError as error:
        raise CaptureError(f"cannot write here: {error.strerror}", where=Place(str(folder)), mend="name another --cache-dir") from error
    with stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            with shown(f"waiting for another build-capture that uses {folder}"):
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
    """Yield an empty folder beside `folder` that takes its place, whole, when the block ends without an error.

    Where `folder` is a link, what it leads to is replaced.
    """
    folder = real_path(folder)
    make_folder(folder.parent)
    try:
        fresh = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}.new-"))
    except OSError as error:
        raise CaptureError(f"cannot write beside this folder: {error.strerror}", where=Place(str(folder)), mend="name another one") from error
    try:
        yield fresh
        fresh.chmod(0o755)
        _refuse_read_only(folder)
        _swap(fresh, folder)
    except OSError as error:
        raise CaptureError(f"cannot write this folder: {error.strerror}", where=Place(str(folder)), mend="name another one") from error
    finally:
        if fresh.exists():
            shutil.rmtree(fresh)


def real_path(path: Path) -> Path:
    """The path, absolute and without links. Raises a `CaptureError` for a link that leads to itself."""
    try:
        return path.resolve()
    except (OSError, RuntimeError) as error:
        raise CaptureError("this link leads to itself", where=Place(str(path)), mend="name another path") from error


def _refuse_read_only(folder: Path) -> None:
    """Raise an `OSError` where what is in `folder` may not be removed; whoever made it read-only wants to keep it."""
    for place, _, _ in os.walk(folder):
        if not os.access(place, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), place)


def _swap(fresh: Path, folder: Path) -> None:
    """Put `fresh` where `folder` is, in one step: a kill leaves the one or the other there. What was there is at `fresh` then."""
    if not folder.exists():
        os.rename(fresh, folder)
    elif not _exchange(fresh, folder):
        _swap_in_two_steps(fresh, folder)


_AT_FDCWD, _RENAME_EXCHANGE = -100, 2


def _exchange(first: Path, second: Path) -> bool:
    """Give each of two folders the name of the other in one step (renameat2(2)); False where the file system or the C library cannot."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return False
    if rename(_AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second), _RENAME_EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP):
        return False
    raise OSError(number, os.strerror(number), str(second))


def _swap_in_two_steps(fresh: Path, folder: Path) -> None:
    """The same on a file system that exchanges no names, such as NFS: a kill between the steps leaves `folder` beside, as `.<name>.old-…`."""
    old = fresh.with_name(fresh.name.replace(".new-", ".old-"))
    os.rename(folder, old)
    try:
        os.rename(fresh, folder)
    except OSError:
        os.rename(old, folder)
        raise
    os.rename(old, fresh)
