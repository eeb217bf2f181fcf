"""Merges sets: one entry for each specialization with its options, whatever set it comes from, and every alias derived anew.

What two sets compiled for one specialization must be the same bytes, launched alike. Where it is not, that is an error,
or the set that is named first, or the one that is named last, decides; sets carry no dates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from build_capture import __version__
from build_capture.errors import CaptureError, Exit, Place, nearest, raise_all
from build_capture.sets.adopt import adopted
from build_capture.sets.aliases import Claims, aliases_of, claims_of, reachable
from build_capture.sets.digest import digest
from build_capture.sets.elf import ElfProblem, parse_cubin
from build_capture.sets.inspect import problem_of_bytes
from build_capture.sets.model import SOURCES, CapturedSet, SetKernel, first_difference
from build_capture.sets.pack import file_order
from build_capture.sets.parse import OURS
from build_capture.sets.read import ReadSet
from build_capture.sets.seal import assumptions
from build_capture.targets import TARGETS, Target

Conflict = Literal["error", "first", "newest"]

SEVERAL = "several versions"
"""Stands for the hash of a source file that the merged sets do not agree on."""


class Resolved(msgspec.Struct, frozen=True):
    """A specialization that two sets have other code for, and which of them is kept."""

    identity: str
    differs: str
    """The first field in which they differ: `sha256` where only the bytes do."""
    kept: str
    left: str


class Merged(msgspec.Struct, frozen=True):
    """What came of merging."""

    captured: CapturedSet
    cubins: dict[str, bytes]
    resolved: list[Resolved]
    duplicates: int
    """Entries that several sets have alike, or that serve no launch since another of the same identity comes first."""


class _Source(msgspec.Struct, frozen=True):
    """A set that is merged."""

    name: str
    found: ReadSet
    cubins: dict[str, bytes]
    entries: list[SetKernel]


class _Kept(msgspec.Struct):
    """A cubin that is kept, and what its entries claim."""

    own: SetKernel
    source: _Source
    claims: set[Claims]


def merge(sets: Sequence[tuple[str, ReadSet]], conflict: Conflict) -> Merged:
    """Merge sets, each with the name that a user knows it by. Raises every conflict at once (`Exit.NOT_COVERED`), and other targets."""
    sources = [_source(name, found) for name, found in sets]
    target = _target(sources)
    _refuse_contradictions(sources)
    kept: dict[str, _Kept] = {}
    hashes: dict[str, str] = {}
    resolved: list[Resolved] = []
    for source in sources:
        for own, claims in _cubins_of(source):
            identity = own.identity if own.identity in kept else hashes.get(own.hash, own.identity)
            there = kept.get(identity)
            if there is None:
                kept[identity] = _Kept(own, source, claims)
            elif differs := _other(there.own, own):
                later = conflict == "newest"
                resolved.append(Resolved(identity, differs, *((source.name, there.source.name) if later else (there.source.name, source.name))))
                kept[identity] = _Kept(own, source, there.claims | claims) if later else _Kept(there.own, there.source, there.claims | claims)
            else:
                there.claims |= claims
            hashes[kept[identity].own.hash] = identity
    if conflict == "error":
        raise_all([_error(each) for each in resolved])
    kernels = _entries(list(kept.values()))
    given = sum(len(source.entries) for source in sources)
    return Merged(
        captured=CapturedSet(
            generator={"name": OURS, "version": __version__},
            target=target.name,
            policy=_agreed([source.found.captured.policy for source in sources], ""),
            provenance=_provenance(sources),
            kernels=kernels,
        ),
        cubins={each.own.hash: each.source.cubins[each.own.hash] for each in kept.values()},
        resolved=resolved,
        duplicates=given - len(kernels) - len(resolved),
    )


def _source(name: str, found: ReadSet) -> _Source:
    if not found.captured.kernels:
        raise CaptureError("this set has no entries", where=Place(str(found.path)), mend="capture it anew, or leave it out")
    _refuse_one_hash_for_several(found)
    cubins = {kernel.hash: found.read_cubin(kernel) for kernel in found.captured.kernels}
    raise_all(
        [
            CaptureError(problem, where=Place(str(found.cubin_path(kernel))), mend="copy, unpack or install that set anew, or leave it out", code=Exit.NOT_COVERED)
            for kernel in {kernel.hash: kernel for kernel in found.captured.kernels}.values()
            if (problem := problem_of_bytes(cubins[kernel.hash], [kernel]))
        ]
    )
    return _Source(name, found, cubins, adopted(found, cubins))


def _refuse_one_hash_for_several(found: ReadSet) -> None:
    """Raise for entries of a foreign set that name one cubin and are not one specialization: which of them it is cannot be known."""
    first: dict[str, SetKernel] = {}
    for kernel in found.captured.kernels:
        own = first.setdefault(kernel.hash, kernel)
        if field := first_difference(own, kernel, ("params", "alias", "seal")):
            raise CaptureError(
                f"two entries name the cubin {kernel.hash[:12]}, and `{field}` of {kernel.fn} is not that of {own.fn}",
                where=Place(str(found.path)),
                mend="capture that set anew, or leave it out",
            )


def _refuse_contradictions(sources: Sequence[_Source]) -> None:
    """Raise where sets say of one cubin that its code assumes other things: a launch that only the untrue one lets in goes wrong."""
    first: dict[str, tuple[SetKernel, str]] = {}
    errors = []
    for source in sources:
        for own, _ in _cubins_of(source):
            earlier, name = first.setdefault(own.hash, (own, source.name))
            if assumptions(earlier) != assumptions(own):
                errors.append(
                    CaptureError(
                        f"the cubin {own.hash[:12]} is compiled for {own.identity} here, and for {earlier.identity} in {name}",
                        where=Place(source.name),
                        mend="at most one is true: leave the other set out, or capture it anew",
                    )
                )
    raise_all(errors)


def _target(sources: Sequence[_Source]) -> Target:
    """The one target of all sets; of a set that does not say, what its cubins are for."""
    known = {source.name: source.found.captured.target or _target_of_cubins(source) for source in sources}
    if len(set(known.values())) > 1:
        raise CaptureError(
            f"these sets are for several targets: {', '.join(f'{name} for {target}' for name, target in known.items())}", mend="merge the sets of one target"
        )
    (text,) = set(known.values())
    targets = {target.name: target for target in TARGETS.values()}
    if text not in targets:
        raise CaptureError(f"these sets are for {text!r}, which is no target that is known", mend=nearest(text, targets))
    return targets[text]


def _target_of_cubins(source: _Source) -> str:
    try:
        return f"sm_{parse_cubin(next(iter(source.cubins.values()))).capability}"
    except ElfProblem as problem:
        raise CaptureError(f"this set does not say which GPU it is for, and a cubin of it does not either: {problem}", where=Place(source.name)) from problem


def _cubins_of(source: _Source) -> list[tuple[SetKernel, set[Claims]]]:
    """The entry of each cubin's own specialization, with all that its entries claim."""
    own = [kernel for kernel in source.entries if not kernel.alias]
    claims: dict[str, set[Claims]] = {}
    for kernel in source.entries:
        claims.setdefault(kernel.hash, set()).add(claims_of(kernel))
    return [(kernel, claims[kernel.hash]) for kernel in own]


def _other(first: SetKernel, second: SetKernel) -> str:
    """The first field in which two entries of one specialization differ; the hash and the kinds alone are no difference where the bytes are equal."""
    left_out = ("params", "kinds", "alias", "seal", "hash", "sha256")
    return first_difference(first, second, left_out) or ("" if first.sha256 == second.sha256 else "sha256")


def _entries(kept: Sequence[_Kept]) -> list[SetKernel]:
    """All entries: each cubin's own, and the aliases that a launch can come to."""
    own = [each.own for each in kept]
    aliases = reachable(own, (alias for each in kept for alias in aliases_of(each.own, each.claims)))
    return sorted([*own, *aliases], key=file_order)


def _error(each: Resolved) -> CaptureError:
    what = "other bytes" if each.differs == "sha256" else f"another `{each.differs}`"
    return CaptureError(
        f"{each.identity} has {what} in {each.left}",
        where=Place(each.kept),
        mend="capture both with one toolchain, or choose with --conflict first or newest (the set named last)",
        code=Exit.NOT_COVERED,
    )


def _provenance(sources: Sequence[_Source]) -> dict[str, Any]:
    """What all sets agree on, and the provenance of each, once, in an order that does not depend on theirs."""
    records: dict[bytes, dict[str, Any]] = {}
    for source in sources:
        for record in _records(source):
            records[msgspec.json.encode(record, order="deterministic")] = record
    all_of = [source.found.captured.provenance for source in sources]
    common = {name: _agreed([each.get(name) for each in all_of], None) for name in all_of[0]}
    common |= {part: _files([each[part] for each in all_of]) for part in SOURCES if all(_is_hashes(each.get(part)) for each in all_of)}
    return {name: value for name, value in common.items() if value is not None and name != "merged"} | {"merged": [records[key] for key in sorted(records)]}


def _is_hashes(value: Any) -> bool:
    """Whether a record, which another tool may have written, is one of files and their hashes."""
    return isinstance(value, dict) and all(isinstance(each, str) for each in value.values())


def _files(hashes: Sequence[dict[str, str]]) -> dict[str, str]:
    """The hashes of all files. One that sets were captured from different versions of gets none that a file can have, so
    that the merged set counts as stale against any tree: part of its code comes from elsewhere."""
    names = sorted({name for each in hashes for name in each})
    found = {name: {each[name] for each in hashes if name in each} for name in names}
    return {name: versions.pop() if len(versions) == 1 else SEVERAL for name, versions in found.items()}


def _records(source: _Source) -> list[dict[str, Any]]:
    """The sets that this one was merged from, as it records them; itself where it records none."""
    captured = source.found.captured
    merged = captured.provenance.get("merged")
    if isinstance(merged, list) and merged and all(isinstance(record, dict) for record in merged):
        return merged
    record = {
        "digest": digest(source.found),
        "foreign": source.found.foreign,
        "generator": captured.generator,
        "policy": captured.policy,
        "provenance": captured.provenance,
    }
    return [record]


def _agreed(values: Sequence[Any], other: Any) -> Any:
    return values[0] if all(value == values[0] for value in values) else other
