"""The digest of a set: the same for the same files, wherever they lie, and easy to check by hand."""

from __future__ import annotations

from build_capture.files import sha256_of_bytes, sha256_of_file
from build_capture.sets.read import AOT_JSON, ReadSet


def digest(found: ReadSet) -> str:
    """The SHA-256 of what `sha256sum aot.json cubins/*.cubin` prints in the folder of a set that is whole, sorted by name.

    The cubins are those that the set lists, in the folder that it names; one that is not there is left out. As
    zig_bridge/verify/verify.zig. Raises an `OSError` where a file cannot be read.
    """
    paths = {name: found.folder / name for name in map(found.cubin_name, found.captured.kernels)}
    hashes = {name: sha256_of_file(path) for name, path in paths.items() if path.is_file()} | {AOT_JSON: sha256_of_file(found.path)}
    return sha256_of_bytes("".join(f"{hashes[name]}  {name}\n" for name in sorted(hashes)).encode())
