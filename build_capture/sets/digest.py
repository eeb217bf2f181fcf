"""The digest of a set: the same for the same files, wherever they lie, and easy to check by hand."""

from __future__ import annotations

from pathlib import Path

from build_capture.errors import CaptureError, Place
from build_capture.files import sha256_of_bytes, sha256_of_file


def digest_text(folder: Path) -> str:
    """What `sha256sum aot.json cubins/*.cubin` prints in the folder of a set, sorted by name."""
    paths = [folder / "aot.json", *(folder / "cubins").glob("*.cubin")]
    try:
        lines = {path.relative_to(folder).as_posix(): sha256_of_file(path) for path in paths}
    except OSError as error:
        raise CaptureError(f"cannot read this file: {error.strerror}", where=Place(str(error.filename)), mend="name the folder of a set") from error
    return "".join(f"{lines[name]}  {name}\n" for name in sorted(lines, key=str.encode))


def digest(folder: Path) -> str:
    """The digest of the set in `folder`: the SHA-256 of its `digest_text`."""
    return sha256_of_bytes(digest_text(folder).encode())
