"""Makes the entries of a foreign set, which another tool wrote, entries of ours: sealed, and no claim without proof."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from build_capture.errors import CaptureError, Place, raise_all
from build_capture.files import sha256_of_bytes
from build_capture.sets.model import SetKernel, SetParameter
from build_capture.sets.read import ReadSet
from build_capture.sets.seal import sealed


def adopted(found: ReadSet, cubins: dict[str, bytes]) -> list[SetKernel]:
    """The entries of a set, sealed, by the cubins' own bytes; a sealed set's are as they are.

    A foreign set says which launches an entry serves, not what its code assumes. Of the entries that share a cubin the
    least is taken as true: where one of them serves any address, the code cannot assume an aligned one. Raises a
    `CaptureError` for each cubin of whose entries none can be the one that was compiled.
    """
    if not found.foreign:
        return list(found.captured.kernels)
    groups: dict[str, list[SetKernel]] = {}
    for kernel in found.captured.kernels:
        groups.setdefault(kernel.hash, []).append(kernel)
    entries: list[SetKernel] = []
    errors: list[CaptureError] = []
    for digest, group in groups.items():
        try:
            entries += _adopt(group, sha256_of_bytes(cubins[digest]))
        except CaptureError as error:
            errors.append(CaptureError(error.what, where=Place(str(found.path)), mend=error.mend))
    raise_all(errors)
    return entries


def _adopt(group: Sequence[SetKernel], sha256: str) -> list[SetKernel]:
    """The entries of one cubin."""
    first = group[0]
    shapes = {tuple((p.name, p.type) for p in kernel.params) for kernel in group}
    if len(shapes) > 1:
        raise CaptureError(f"the entries of {first.fn} with the hash {first.hash} have other params than each other")
    assumed = [_assumes(parameters) for parameters in zip(*(kernel.params for kernel in group), strict=True)]
    known = [
        msgspec.structs.replace(
            kernel,
            sha256=sha256,
            alias=True,
            params=[msgspec.structs.replace(p, assumes16=assumes) for p, assumes in zip(kernel.params, assumed, strict=True)],
        )
        for kernel in group
    ]
    own = [kernel for kernel in known if all(p.div16 == p.assumes16 for p in kernel.params)]
    if not own:
        raise CaptureError(
            f"no entry of {first.fn} with the hash {first.hash} serves just what its cubin assumes, so that none can be the one that was compiled",
            mend="capture this kernel anew",
        )
    compiled = min(own, key=lambda kernel: sum(p.nospec for p in kernel.params))
    distinct = {kernel.identity: kernel for kernel in known if kernel.identity != compiled.identity}
    return [sealed(msgspec.structs.replace(compiled, alias=False)), *map(sealed, distinct.values())]


def _assumes(parameters: Sequence[SetParameter]) -> bool:
    """Whether the code may assume a multiple of 16: only where each of its entries serves nothing else."""
    return all(parameter.div16 and not (parameter.nospec and not parameter.is_pointer) for parameter in parameters)
