"""Seals the entries of a set, and tells which claims no cubin bears out: those can neither be written nor loaded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from build_capture.files import sha256_of_bytes
from build_capture.sets.model import SetConstant, SetKernel, first_difference


def canonical_text(kernel: SetKernel) -> str:
    """All that an entry says but its seal, one fact a line. zig_bridge/set/seal.zig writes the same text."""
    consts, kinds, texts = (sorted(names, key=str.encode) for names in (kernel.consts, kernel.kinds, kernel.texts))
    lines = [
        f"fn {kernel.fn}",
        f"hash {kernel.hash}",
        f"name {kernel.name}",
        f"sha256 {kernel.sha256}",
        f"launch {kernel.num_warps} {kernel.num_stages} {kernel.num_ctas} {kernel.warp_size} {kernel.shared} {kernel.global_scratch} "
        f"{kernel.global_align} {kernel.profile_scratch} {_word(kernel.pdl)}",
        f"requested {kernel.requested['num_warps']} {kernel.requested['num_stages']}",
        f"alias {_word(kernel.alias)}",
        *(f"param {p.name} {p.type} {_word(p.div16)} {_word(p.nospec)} {_word(p.assumes16)}" for p in kernel.params),
        *(f"const {name} {_constant(kernel.consts[name])}" for name in consts),
        *(f"kind {name} {kernel.kinds[name]}" for name in kinds),
        # A string may hold line breaks, which would let it pass for further lines.
        *(f"text {name} {kernel.texts[name].encode().hex()}" for name in texts),
    ]
    return "".join(f"{line}\n" for line in lines)


def seal(kernel: SetKernel) -> str:
    """The seal of an entry: the SHA-256 of its canonical text, in lower-case hexadecimal."""
    return sha256_of_bytes(canonical_text(kernel).encode())


def sealed(kernel: SetKernel) -> SetKernel:
    """The entry with its seal."""
    return msgspec.structs.replace(kernel, seal=seal(kernel))


def soundness(kernels: Sequence[SetKernel]) -> list[str]:
    """What is wrong with the entries of a set of ours, a sentence each: a broken seal, or a claim that a cubin does not bear out."""
    problems = [f"kernels[{index}] ({kernel.fn}): {problem}" for index, kernel in enumerate(kernels) for problem in _problems_of_one(kernel)]
    compiled: dict[str, int] = {}
    for index, kernel in enumerate(kernels):
        if kernel.alias:
            continue
        if kernel.hash in compiled:
            problems.append(f"kernels[{index}] ({kernel.fn}): `alias` is false, as in kernels[{compiled[kernel.hash]}]; expected one such entry of a `hash`")
        compiled.setdefault(kernel.hash, index)
    for index, kernel in enumerate(kernels):
        if kernel.hash not in compiled:
            problems.append(f"kernels[{index}] ({kernel.fn}): an alias whose `hash` no entry with `alias` false has")
        elif field := _other_code(kernels[compiled[kernel.hash]], kernel):
            problems.append(f"kernels[{index}] ({kernel.fn}): `{field}` is not that of kernels[{compiled[kernel.hash]}], which has the same `hash`")
    return problems


def _problems_of_one(kernel: SetKernel) -> Iterator[str]:
    if kernel.seal != seal(kernel):
        yield "`seal` is not that of the entry: something in it was changed"
    for parameter in kernel.params:
        if parameter.assumes16 and (not parameter.div16 or parameter.nospec and not parameter.is_pointer):
            yield f"`{parameter.name}` serves values that its code does not: the code assumes a multiple of 16"
        elif not kernel.alias and parameter.assumes16 != parameter.div16:
            yield f"`{parameter.name}`: `div16` is not `assumes16`; only an alias may serve other values than its code was compiled for"


def _other_code(first: SetKernel, second: SetKernel) -> str:
    """The first field in which two entries of one cubin contradict each other; empty where none does."""
    if name := first_difference(first, second, ("params", "alias", "seal")):
        return name
    return "" if assumptions(first) == assumptions(second) else "params"


def assumptions(kernel: SetKernel) -> list[tuple[str, str, bool]]:
    """What the code of an entry takes, and whether it assumes a multiple of 16 there: alike in all entries of one cubin."""
    return [(parameter.name, parameter.type, parameter.assumes16) for parameter in kernel.params]


def _constant(constant: SetConstant) -> str:
    kind, value = constant.form
    return kind if kind == "none" else f"{kind} {value}"


def _word(value: bool) -> str:
    return "true" if value else "false"
