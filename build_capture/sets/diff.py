"""What differs between two sets: entries by their specialization, their cubins' sizes, the tools and sources behind them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from build_capture.files import sha256_of_bytes
from build_capture.sets.model import SetKernel
from build_capture.sets.read import ReadSet


class Change(msgspec.Struct, frozen=True):
    """A fact that both sets have, of another value."""

    name: str
    before: Any
    after: Any
    """None where a set does not have it."""

    @property
    def shown(self) -> tuple[str, str]:
        """Both values as tables show them; of long texts the part from where they differ."""
        texts = (_text(self.before), _text(self.after))
        begin = len(os.path.commonprefix(texts)) - _SHOWN_BEFORE if max(map(len, texts)) > TEXT_MAX else 0
        first, second = (_short(text, begin) for text in texts)
        return first, second


class EntryChange(msgspec.Struct, frozen=True):
    """An entry that both sets have, and what is different in it."""

    identity: str
    fields: list[Change]


class SetDiff(msgspec.Struct, frozen=True):
    """What differs from one set to another."""

    added: list[str]
    """Identities of entries that only the second has."""
    removed: list[str]
    """Those that only the first has."""
    changed: list[EntryChange]
    same: int
    """Entries that are alike in both."""
    facts: list[Change]
    """Of the sets as wholes: target, policy, generator, and each part of the provenance by its path."""
    bytes: Change
    """Of all cubins."""
    notes: list[str]

    @property
    def differs(self) -> bool:
        """Whether anything does."""
        return bool(self.added or self.removed or self.changed or self.facts)


def compare(before: ReadSet, after: ReadSet) -> SetDiff:
    """What differs from `before` to `after`. Cubins are compared by their bytes, also where a set records no hashes of them."""
    first, second = _entries(before), _entries(after)
    changed = []
    same = 0
    for identity in sorted(first.keys() & second.keys()):
        if fields := list(_changes(first[identity], second[identity])):
            changed.append(EntryChange(identity, fields))
        else:
            same += 1
    return SetDiff(
        added=sorted(second.keys() - first.keys()),
        removed=sorted(first.keys() - second.keys()),
        changed=changed,
        same=same,
        facts=list(_changes(_facts(before), _facts(after))),
        bytes=Change("bytes", _total(before), _total(after)),
        notes=[f"{name}: {note}" for name, found in (("first", before), ("second", after)) for note in found.notes],
    )


def _entries(found: ReadSet) -> dict[str, dict[str, Any]]:
    """Identity -> facts. Of entries with one identity, which a foreign set may have, engines take the first."""
    facts: dict[str, dict[str, Any]] = {}
    for kernel in found.captured.kernels:
        facts.setdefault(kernel.identity, _facts_of(kernel, found.read_cubin(kernel), found.foreign))
    return facts


_LAUNCH = ("hash", "name", "num_warps", "num_stages", "num_ctas", "warp_size", "shared", "pdl")


def _facts_of(kernel: SetKernel, cubin: bytes, foreign: bool) -> dict[str, Any]:
    facts: dict[str, Any] = {"cubin": sha256_of_bytes(cubin), "bytes": len(cubin)} | {name: getattr(kernel, name) for name in _LAUNCH}
    # A foreign set does not say these; that it is foreign is told once, as a note.
    return facts if foreign else facts | {"alias": kernel.alias, "assumes16": [p.name for p in kernel.params if p.assumes16]}


def _facts(found: ReadSet) -> dict[str, Any]:
    captured = found.captured
    facts: dict[str, Any] = {"target": captured.target, "policy": captured.policy}
    return facts | dict(_flat(captured.generator, "generator")) | dict(_flat(captured.provenance, "provenance"))


def _flat(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Each part of a record by its path; of the sets that one was merged from each in a line, under the start of its digest."""
    if isinstance(value, dict) and value:
        for name in sorted(value):
            yield from _flat(value[name], f"{path}.{name}")
    elif path == "provenance.merged" and isinstance(value, list) and all(isinstance(record, dict) for record in value):
        for record in value:
            yield f"{path}.{str(record.get('digest', ''))[:12]}", _told_of_merged(record)
    else:
        yield path, value


_OF_MERGED = {
    "generator": "generator.name",
    "policy": "policy",
    "parallel": "provenance.limits.parallel",
    "window rows": "provenance.limits.window_rows",
    "prompt rows": "provenance.limits.prompt_rows",
    "triton": "provenance.toolchain.triton",
}
"""What tells a set that was merged from another one."""


def _told_of_merged(record: dict[str, Any]) -> str:
    parts = dict(_flat(record, ""))
    return ", ".join(f"{name} {parts['.' + path]}" for name, path in _OF_MERGED.items() if f".{path}" in parts)


def _changes(before: dict[str, Any], after: dict[str, Any]) -> Iterator[Change]:
    """What differs between two sets of facts; what one of them does not say of an entry is no difference there."""
    for name in [*before, *(name for name in after if name not in before)]:
        if name in ("alias", "assumes16") and (name not in before or name not in after):
            continue
        if before.get(name) != after.get(name):
            yield Change(name, before.get(name), after.get(name))


def _total(found: ReadSet) -> int:
    return sum(len(found.read_cubin(kernel)) for kernel in {kernel.hash: kernel for kernel in found.captured.kernels}.values())


TEXT_MAX, _SHOWN_BEFORE = 100, 20
"""Letters of one value that a table shows, and how many of them come before the first that differs."""


def _text(value: Any) -> str:
    if value is None:
        return "-"
    text = f"{value:,}" if type(value) is int else ", ".join(map(str, value)) if isinstance(value, Sequence) and not isinstance(value, str) else str(value)
    is_hash = len(text) == 64 and not set(text) - set("0123456789abcdef")
    return text[:12] if is_hash else text.replace("\n", " ")


def _short(text: str, begin: int) -> str:
    """The part of a text from `begin` on, if that is positive; cut where it is long."""
    part = text[max(0, begin) :]
    return f"{'…' if begin > 0 else ''}{part[:TEXT_MAX]}{'…' if len(part) > TEXT_MAX else ''}"
