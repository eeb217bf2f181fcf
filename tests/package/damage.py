"""Ways in which the folder of a packaged set can be damaged. Each verifier has to catch each of them, with a message of its own."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from build_capture.files import sha256_of_bytes
from build_capture.package.manifest import (
    MANIFEST,
    file_entry,
    manifest_for,
    manifest_text,
)
from build_capture.sets.digest import digest
from build_capture.sets.model import CapturedSet
from build_capture.sets.read import ReadSet
from build_capture.sets.seal import sealed
from tests.package.sample import ADD, COPY, SCRATCH_POINTERS
from tests.sets.cubins import cubin_bytes

CUBIN = f"cubins/{ADD}.cubin"
"""The cubin that is damaged; of `_add`."""


@dataclass(frozen=True)
class Damage:
    """One way."""

    name: str
    apply: Callable[[Path], object]
    """Damages the folder of a packaged sample (tests/package/sample.py)."""
    message_python: str
    """What `build-capture verify` says of it."""


def add_bytes(**changes: Any) -> bytes:
    """A cubin for `_add`, as it should be but for `changes`."""
    return cubin_bytes(**({"capability": 121, "entry": "_add", "parameters": (8, 8, *SCRATCH_POINTERS)} | changes))


def manifest_again(folder: Path, **changes: Any) -> None:
    """Write the manifest that fits what is in the folder now, but for `changes` of its fields."""
    captured = msgspec.json.decode((folder / "aot.json").read_bytes(), type=CapturedSet)
    paths = [path for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST]
    files = {path.relative_to(folder).as_posix(): file_entry(path.read_bytes()) for path in paths}
    manifest = manifest_for("sample", captured, digest(ReadSet(folder, folder / "aot.json", captured, False, (), "cubins", "cubin")), files)
    (folder / MANIFEST).write_bytes(manifest_text(msgspec.structs.replace(manifest, **changes)))


def edit_top(folder: Path, **changes: Any) -> None:
    """Set fields of aot.json beside its entries, and let the manifest follow."""
    path = folder / "aot.json"
    path.write_text(json.dumps(json.loads(path.read_bytes()) | changes))
    manifest_again(folder)


def edit_entry(folder: Path, hash_: str, **changes: Any) -> None:
    """Change the entries of a cubin, seal them again, and let the manifest follow: only what no hash can tell is wrong then."""
    path = folder / "aot.json"
    captured = msgspec.json.decode(path.read_bytes(), type=CapturedSet)
    kernels = [sealed(msgspec.structs.replace(kernel, **changes)) if kernel.hash == hash_ else kernel for kernel in captured.kernels]
    path.write_bytes(msgspec.json.encode(msgspec.structs.replace(captured, kernels=kernels)))
    manifest_again(folder)


def replace_cubin(folder: Path, data: bytes) -> None:
    """Put another cubin in the place of `_add`'s; everything that records its bytes follows."""
    (folder / CUBIN).write_bytes(data)
    edit_entry(folder, ADD, sha256=sha256_of_bytes(data))


def flip(path: Path) -> None:
    """Flip one bit in the middle of a file."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def edit_seal_less(folder: Path) -> None:
    """Edit one number of a sealed entry by hand."""
    path = folder / "aot.json"
    text = path.read_text()
    assert text.count('"shared": 512') == 1
    path.write_text(text.replace('"shared": 512', '"shared": 256'))
    manifest_again(folder)


def claim_more(folder: Path) -> None:
    """Let an entry serve addresses that its code was not compiled for, and seal it."""
    captured = msgspec.json.decode((folder / "aot.json").read_bytes(), type=CapturedSet)
    (kernel,) = (kernel for kernel in captured.kernels if kernel.hash == COPY)
    edit_entry(folder, COPY, params=[msgspec.structs.replace(kernel.params[0], div16=False), *kernel.params[1:]])


def link(path: Path) -> None:
    """Move a file or folder out of the set and leave a link to it."""
    elsewhere = path.parents[1] / "elsewhere" if path.is_dir() else path.parents[2] / "elsewhere"
    os.replace(path, elsewhere)
    path.symlink_to(elsewhere)


def drop_list(folder: Path) -> None:
    """Leave no entry in aot.json, and no cubin."""
    for path in (folder / "cubins").iterdir():
        path.unlink()
    edit_top(folder, kernels=[])


def grow(path: Path) -> None:
    """Make a file larger than engines read; it takes no room on the disk."""
    os.truncate(path, (64 << 20) + 1)


def edit_spaces(folder: Path) -> None:
    """Write aot.json again with other spaces: the same set to an engine, but not the file that was packaged."""
    path = folder / "aot.json"
    path.write_text(json.dumps(json.loads(path.read_bytes())))


def edit_provenance(folder: Path, **changes: Any) -> None:
    """Change what aot.json says of its making, and let the manifest follow."""
    edit_top(folder, provenance=json.loads((folder / "aot.json").read_bytes())["provenance"] | changes)


def list_stranger(folder: Path) -> None:
    """Let the manifest list a file of the system."""
    manifest = json.loads((folder / MANIFEST).read_bytes())
    manifest["files"]["../../../etc/passwd"] = {"sha256": "00" * 32, "bytes": 1}
    (folder / MANIFEST).write_text(json.dumps(manifest))


DAMAGES = [
    Damage("a cubin deleted", lambda folder: (folder / CUBIN).unlink(), f"{CUBIN}: error: it is missing; aot.json lists it for _add"),
    Damage("a byte of a cubin flipped", lambda folder: flip(folder / CUBIN), f"{CUBIN}: error: its bytes are not those that aot.json records for _add"),
    Damage("a cubin too much", lambda folder: (folder / "cubins/ff.cubin").write_bytes(b"x"), "cubins/ff.cubin: error: aot.json lists no such cubin"),
    Damage("a file too much", lambda folder: (folder / "run.sh").write_text("rm"), "run.sh: error: it is no part of a set"),
    Damage(
        "a folder's file too much",
        lambda folder: (folder / "cubins/old").mkdir() or (folder / "cubins/old/a.cubin").write_bytes(b""),
        "cubins/old/a.cubin: error:",
    ),
    Damage("folders within folders", lambda folder: (folder / "a/b/c/d/e").mkdir(parents=True), "a/b/c/d/e: error: it lies 4 folders deep"),
    Damage("a cubin is a link", lambda folder: link(folder / CUBIN), f"{CUBIN}: error: it is a symbolic link; a set holds files only"),
    Damage("the cubins' folder is a link", lambda folder: link(folder / "cubins"), "cubins: error: it is a symbolic link; a set holds files only"),
    Damage("a pipe", lambda folder: os.mkfifo(folder / "cubins/ff.cubin"), "cubins/ff.cubin: error: it is no regular file; a set holds files only"),
    Damage("a cubin that is too large", lambda folder: grow(folder / CUBIN), f"{CUBIN}: error: it has 67108865 bytes; engines read at most 67108864"),
    Damage("aot.json deleted", lambda folder: (folder / "aot.json").unlink(), "error: there is no aot.json, so this is no set, or not all of it"),
    Damage("aot.json emptied", lambda folder: (folder / "aot.json").write_bytes(b""), "aot.json: error: the file is empty"),
    Damage("aot.json cut off", lambda folder: os.truncate(folder / "aot.json", 900), "no valid JSON"),
    Damage("aot.json in another writing", edit_spaces, "aot.json: error: its bytes are not those that manifest.json lists"),
    Damage("no kernels", drop_list, "aot.json: error: it lists no kernels, so no launch can be served"),
    Damage("an entry edited by hand", edit_seal_less, "`seal` is not that of the entry: something in it was changed"),
    Damage("an entry that claims more than its code", claim_more, "`X` serves values that its code does not"),
    Damage(
        "a hash that leaves the folder", lambda folder: edit_entry(folder, ADD, hash="../../add"), "`hash` is no file name; expected letters, digits, - and _"
    ),
    Damage("an entry that needs scratch memory", lambda folder: edit_entry(folder, ADD, global_scratch=128), "`global_scratch` is 128; expected 0"),
    Damage("an entry that needs too much shared memory", lambda folder: edit_entry(folder, ADD, shared=200 << 10), "204800 bytes of shared memory"),
    Damage("another target", lambda folder: edit_top(folder, target="sm_120"), "aot.json: error: `target` is sm_120, and its cubins are for sm_121"),
    Damage("a target that is none", lambda folder: edit_top(folder, target="sm_1210"), "aot.json: error: `target` is 'sm_1210', which is no GPU that is known"),
    Damage(
        "line tables promised", lambda folder: edit_provenance(folder, line_info=True), "aot.json: error: `line_info` is true, and some of its cubins hold none"
    ),
    Damage("line tables", lambda folder: replace_cubin(folder, add_bytes(line_tables=True)), "`line_info` is false, and some of its cubins hold line tables"),
    Damage("a cubin emptied", lambda folder: replace_cubin(folder, b""), f"{CUBIN}: error: its cubin is not an ELF"),
    Damage("a cubin cut off", lambda folder: replace_cubin(folder, add_bytes()[:100]), f"{CUBIN}: error: its cubin is damaged"),
    Damage(
        "a cubin for a CPU",
        lambda folder: replace_cubin(folder, add_bytes(machine=62)),
        f"{CUBIN}: error: its cubin is an ELF for another machine, not for CUDA",
    ),
    Damage("a cubin for another GPU", lambda folder: replace_cubin(folder, add_bytes(capability=90)), f"{CUBIN}: error: its cubin is for sm_90, not sm_121"),
    Damage("a cubin without the entry", lambda folder: replace_cubin(folder, add_bytes(entry="_sub")), f"{CUBIN}: error: its cubin has no entry _add"),
    Damage("a cubin with other parameters", lambda folder: replace_cubin(folder, add_bytes(parameters=(8, 8, 8, *SCRATCH_POINTERS))), "5 parameters"),
    Damage("a cubin with parameters of other sizes", lambda folder: replace_cubin(folder, add_bytes(parameters=(8, 4, *SCRATCH_POINTERS))), "takes Y as 4 bytes at 8"),
    Damage("a cubin for another block", lambda folder: replace_cubin(folder, add_bytes(block=(64, 1, 1))), "takes blocks of 64 x 1 x 1 threads"),
    Damage("a cubin for a cluster", lambda folder: replace_cubin(folder, add_bytes(cluster=(2, 1, 1))), "takes clusters of 2 x 1 x 1 blocks"),
    Damage("manifest.json deleted", lambda folder: (folder / MANIFEST).unlink(), "manifest.json: error: it is missing; every packaged set has one"),
    Damage("manifest.json emptied", lambda folder: (folder / MANIFEST).write_text("{}"), "manifest.json: error: it is no manifest"),
    Damage("another digest", lambda folder: manifest_again(folder, digest="00" * 32), f"manifest.json: error: `digest` is {'00' * 32}; the set's is"),
    Damage("other limits", lambda folder: manifest_again(folder, limits={"parallel": 64}), "manifest.json: error: `limits` is not that of the set"),
    Damage("another app", lambda folder: manifest_again(folder, app="other"), "manifest.json: error: `app` is other, and the folder is sample's; engines"),
    Damage("a manifest that leaves the folder", list_stranger, "manifest.json: error: it lists '../../../etc/passwd', which would leave the folder"),
    Damage("README.md edited", lambda folder: (folder / "README.md").write_text("x"), "README.md: error: its bytes are not those that manifest.json lists"),
    Damage("LICENSE deleted", lambda folder: (folder / "LICENSE").unlink(), "LICENSE: error: it is missing; manifest.json lists it"),
]


def damaged(damage: Damage, whole: Path, folder: Path) -> Path:
    """A damaged copy of the packaged sample's folder, `whole`, in a prefix of its own whose name holds a space."""
    copy = folder / "a prefix" / whole.relative_to(whole.parents[3])
    shutil.copytree(whole, copy)
    damage.apply(copy)
    return copy


def check_each_damage_has_its_own_message(refusal: Callable[[Path], str], whole: Path, folder: Path) -> None:
    """Let a verifier refuse every damage, and want the message of each in one answer only."""
    said = {damage.name: refusal(damaged(damage, whole, folder / str(number))) for number, damage in enumerate(DAMAGES)}
    assert len(said) == len(DAMAGES) > 15
    for damage in DAMAGES:
        assert [name for name, message in said.items() if damage.message_python in message] == [damage.name]
