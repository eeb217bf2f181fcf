"""Packs variants into a set: the same variants give the same bytes, and the set appears whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from build_capture import __version__
from build_capture.capture.compile import Variant
from build_capture.capture.records import Code
from build_capture.errors import CaptureError, Place, raise_all
from build_capture.files import real_path, replaced_folder, sha256_of_bytes
from build_capture.plan.needs import Constant, fp32_bits
from build_capture.sets.model import CapturedSet, SetConstant, SetKernel, SetParameter
from build_capture.sets.parse import OURS, parse
from build_capture.sets.read import AOT_JSON, CUBIN_BYTES_MAX
from build_capture.sets.seal import sealed
from build_capture.targets import Target

CUBINS = "cubins"


def pack(
    variants: Sequence[Variant],
    target: Target,
    provenance: dict[str, Any],
    out: Path,
    *,
    policy: str = "exact",
    aliases: Sequence[SetKernel] = (),
) -> int:
    """Write the set of these variants and of `aliases` of them to the folder `out`; returns its bytes in all. See `write_set`."""
    kernels = [*map(kernel_of, variants), *aliases]
    captured = CapturedSet(generator={"name": OURS, "version": __version__}, target=target.name, policy=policy, provenance=provenance, kernels=kernels)
    return write_set(captured, {variant.result.hash: variant.cubin for variant in variants}, out)


def write_set(captured: CapturedSet, cubins: Mapping[str, bytes], out: Path) -> int:
    """Write a set, with its cubins by hash, to the folder `out`; returns its bytes in all. A set that is there and equal keeps its files.

    Raises a `CaptureError` where `out` holds something that is not a set, a file is larger than engines take, or an
    entry is not sealed, claims what its cubin does not bear out, or has another cubin than it records.
    """
    refuse_other_folder(out)
    files = set_files(captured, cubins)
    if not _same(files, out):
        with replaced_folder(out) as fresh:
            (fresh / CUBINS).mkdir()
            for name, data in files.items():
                (fresh / name).write_bytes(data)
    return sum(map(len, files.values()))


def set_files(captured: CapturedSet, cubins: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files of a set, by name relative to its folder."""
    captured = msgspec.structs.replace(captured, kernels=sorted(captured.kernels, key=file_order))
    text = msgspec.json.format(msgspec.json.encode(captured, order="deterministic"), indent=1) + b"\n"
    # What no reader takes is not written: the text is read as any other's.
    problems = [*parse(text).faults, *_cubin_problems(captured, cubins)]
    raise_all([CaptureError(f"this set cannot be written: {problem}") for problem in problems])
    return {AOT_JSON: text} | {f"{CUBINS}/{name}.cubin": cubins[name] for name in sorted({kernel.hash for kernel in captured.kernels})}


def file_order(kernel: SetKernel) -> tuple[bool, int, str, str]:
    """What the entries of a set are sorted by: what was compiled before the aliases, and of these the code that assumes more.

    Engines take the first entry that fits, so that a launch loses no hint to an alias of code that knows less.
    """
    assumed = len(kernel.consts) + sum(parameter.assumes16 for parameter in kernel.params)
    return kernel.alias, -assumed if kernel.alias else 0, kernel.identity, kernel.hash


def _cubin_problems(captured: CapturedSet, cubins: Mapping[str, bytes]) -> list[str]:
    problems = {}
    for kernel in captured.kernels:
        name = f"{CUBINS}/{kernel.hash}.cubin"
        if kernel.hash not in cubins:
            problems[name] = f"there is no {name}, which {kernel.fn} has"
        elif len(cubins[kernel.hash]) > CUBIN_BYTES_MAX:
            problems[name] = f"{name} would have {len(cubins[kernel.hash])} bytes; engines refuse more than {CUBIN_BYTES_MAX}"
        elif sha256_of_bytes(cubins[kernel.hash]) != kernel.sha256:
            problems[name] = f"the bytes of {name} are not those that {kernel.fn} records"
    return list(problems.values())


def kernel_of(variant: Variant) -> SetKernel:
    """The entry of a variant: of the specialization that it was compiled for."""
    need, result = variant.need, variant.result
    constants = dict(sorted(result.constants.items()))
    kernel = SetKernel(
        **{name: getattr(result, name) for name in Code.__struct_fields__},
        params=[SetParameter(p.name, p.type, p.div16, nospec=p.type == "i32" and p.name in variant.unspecialized, assumes16=p.div16) for p in result.params],
        consts={name: set_constant(value) for name, value in constants.items() if value.kind != "text"},
        sha256=result.cubin_sha256,
        requested={"num_stages": need.options.num_stages, "num_warps": need.options.num_warps},
        kinds={name: value.kind for name, value in constants.items() if value.kind in ("bool", "f64")},
        texts={name: str(value.value) for name, value in constants.items() if value.kind == "text"},
    )
    return sealed(kernel)


def set_constant(constant: Constant) -> SetConstant:
    """A constant in the form that engines compare: bools as ints, floats by their fp32 bits."""
    value = constant.python
    if constant.kind in ("f32", "f64"):
        return SetConstant(f32=fp32_bits(value))
    if value is None:
        return SetConstant(none=True)
    assert not isinstance(value, str), "consts hold no strings"
    return SetConstant(whole=int(value))


def refuse_other_folder(out: Path) -> None:
    """Raise a `CaptureError` where `out` is not a folder that a set may replace: a new or an empty one, or a set, and in no other set."""
    refuse_folder_of_set(out, real_path(out).parent)
    if not out.exists():
        return
    if not out.is_dir():
        raise CaptureError("this is a file; a set is a folder", where=Place(str(out)), mend="name a folder with --out")
    strange = [p for p in sorted(out.iterdir()) if p.name not in (AOT_JSON, CUBINS)]
    strange += [out / AOT_JSON] if (out / AOT_JSON).is_dir() else []
    strange += [p for p in sorted((out / CUBINS).glob("*")) if p.suffix != ".cubin" or not p.is_file()]
    if strange:
        raise CaptureError(
            f"{strange[0].name} is not part of a set, so this folder is left as it is",
            where=Place(str(out)),
            mend="name an empty folder, a new one, or an earlier set with --out",
        )


def refuse_folder_of_set(out: Path, place: Path) -> None:
    """Raise a `CaptureError` that names `out` where `place` is the folder of a set or lies in one."""
    if any((folder / AOT_JSON).is_file() for folder in (place, *place.parents)):
        raise CaptureError("this lies in the folder of a set, which holds its files alone", where=Place(str(out)), mend="name another folder with --out")


def _same(files: dict[str, bytes], out: Path) -> bool:
    there = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()} if out.is_dir() else set()
    return there == set(files) and all((out / name).read_bytes() == data for name, data in files.items())
