"""Reads a set from where it lies: our own, or one that another tool wrote."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from build_capture.errors import CaptureError, Exit, Place, raise_all
from build_capture.sets.model import CapturedSet, SetKernel
from build_capture.sets.parse import AOT_BYTES_MAX, parse
from build_capture.targets import Target

AOT_JSON = "aot.json"

CUBIN_BYTES_MAX = 64 << 20
"""Engines refuse a larger cubin."""

FAULTS_SHOWN = 20
"""How many faults of one file are told one by one."""


class ReadSet(msgspec.Struct, frozen=True):
    """A set and where it lies."""

    folder: Path
    path: Path
    """Its aot.json."""
    captured: CapturedSet
    foreign: bool
    """Whether it records no seals, as another tool's does. `assumes16` is then taken from `div16`."""
    notes: tuple[str, ...]
    """What its readers should know, a sentence each."""
    bin_dir: str
    bin_ext: str

    def cubin_name(self, kernel: SetKernel) -> str:
        """The path of an entry's cubin in the set's folder. The parser lets no name lead out of it."""
        return f"{self.bin_dir}/{kernel.hash}.{self.bin_ext}"

    def cubin_path(self, kernel: SetKernel) -> Path:
        """Where an entry's cubin lies."""
        return self.folder / self.cubin_name(kernel)

    @property
    def by_cubin(self) -> dict[str, list[SetKernel]]:
        """The entries that name each cubin, by its path in the set's folder, sorted."""
        entries: dict[str, list[SetKernel]] = {}
        for kernel in self.captured.kernels:
            entries.setdefault(self.cubin_name(kernel), []).append(kernel)
        return dict(sorted(entries.items()))

    def read_cubin(self, kernel: SetKernel) -> bytes:
        """An entry's cubin. Raises a `CaptureError` where it is not there, or larger than engines take."""
        path = self.cubin_path(kernel)
        data = _read(path, CUBIN_BYTES_MAX, f"{self.path} lists it for {kernel.fn}")
        if len(data) > CUBIN_BYTES_MAX:
            raise CaptureError(f"the cubin has more than {CUBIN_BYTES_MAX} bytes; engines refuse it", where=Place(str(path)))
        return data


def read_set(path: Path, target: Target | None = None) -> ReadSet:
    """The set at `path`: its folder, its aot.json, or a prefix where sets are installed (`share/<app>/cuda/sm<capability>`).

    Of a prefix's sets `target` chooses; without it there must be one. Raises every fault of the file, all at once, and a
    set that is for another target.
    """
    manifest = _find(path, target)
    parsed = parse(_read(manifest, AOT_BYTES_MAX, "expected a set: its folder, its aot.json, or the prefix where it is installed"))
    if parsed.captured is None:
        raise_all(_shown(parsed.faults, manifest))
    assert parsed.captured is not None
    notes = _notes(parsed.captured) if parsed.foreign else ()
    found = ReadSet(manifest.parent, manifest, parsed.captured, parsed.foreign, notes, parsed.bin_dir, parsed.bin_ext)
    if target is not None:
        refuse_target(found, target)
    return found


def refuse_target(read: ReadSet, wanted: Target) -> None:
    """Raise a `CaptureError` where a set is for another GPU: a cubin for sm_120 is none for sm_121, whatever else may run it."""
    have = read.captured.target.replace("_", "")
    if have and have != wanted.folder:
        raise CaptureError(
            f"have {have}, need {wanted.folder}",
            where=Place(str(read.path)),
            mend=f"capture for {wanted.name}, or name the folder of such a set",
            code=Exit.NOT_COVERED,
        )


def _find(path: Path, target: Target | None) -> Path:
    if path.is_file():
        return path
    if (path / AOT_JSON).is_file() or not path.is_dir():
        return path / AOT_JSON
    places = sorted(path.glob(f"share/*/cuda/sm*/{AOT_JSON}"))
    if not places:
        return path / AOT_JSON
    chosen = [place for place in places if target is None or place.parent.name == target.folder]
    if len(chosen) == 1:
        return chosen[0]
    if target is not None and not chosen:
        have = ", ".join(dict.fromkeys(place.parent.name for place in places))
        raise CaptureError(f"have {have}, need {target.folder}", where=Place(str(path)), mend=f"capture for {target.name}, or name another folder")
    which = "" if target is None else f" for {target.name}"
    folders = ", ".join(place.parent.relative_to(path).as_posix() for place in chosen)
    raise CaptureError(f"{len(chosen)} sets{which} are installed here: {folders}", where=Place(str(path)), mend="name the folder of one")


def _read(path: Path, bytes_max: int, expected: str) -> bytes:
    """The bytes of a file, one more than `bytes_max` at the most."""
    try:
        if not path.is_file():
            # Reading a pipe would wait, and reading a device might not end.
            what = "it is no regular file" if path.exists() else "there is no such file"
            raise CaptureError(what, where=Place(str(path)), mend=expected)
        with path.open("rb") as stream:
            return stream.read(bytes_max + 1)
    except OSError as error:
        raise CaptureError(f"cannot read this file: {error.strerror}", where=Place(str(path)), mend=expected) from error


def _shown(faults: Sequence[str], manifest: Path) -> list[CaptureError]:
    told = [*faults[:FAULTS_SHOWN], *([f"{len(faults) - FAULTS_SHOWN} more faults"] if len(faults) > FAULTS_SHOWN else [])]
    return [CaptureError(fault, where=Place(str(manifest))) for fault in told]


def _notes(captured: CapturedSet) -> tuple[str, ...]:
    name = captured.generator.get("name", "")
    writer = f"another tool ({name})" if name else "another tool"
    notes = [f"{writer} wrote this set: it records no seals, so each cubin is taken to assume what its entries' `div16` says"]
    if not captured.target:
        notes.append("it does not say which GPU it is for")
    return tuple(notes)
