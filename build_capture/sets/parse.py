"""Reads the text of an `aot.json`, which may be another tool's or a hostile one. As zig_bridge/set/parse.zig, but all faults in one run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import msgspec

from build_capture.plan.needs import I64_MAX, I64_MIN
from build_capture.sets.fields import STAND_IN, Fields, article, is_word
from build_capture.sets.model import CapturedSet, SetConstant, SetKernel, SetParameter
from build_capture.sets.seal import soundness

AOT_BYTES_MAX = 16 << 20
"""Engines refuse a larger aot.json."""

OURS = "build-capture"
"""The name of this project as a generator of sets."""

UNSEALED = f"no entry has a `seal`, though `generator` says that {OURS} wrote the set: what its cubins assume was taken out of it; capture it anew"
"""What is wrong with a set of ours without seals. Every version of build-capture writes them; a set that records none and is
taken for another tool's may claim whatever it likes."""

_CONSTANT_FORM = 'expected exactly one of {"int": n}, {"f32": bits} and {"none": true}'
_NO_SCRATCH = {"global_scratch": 0, "global_align": 1, "profile_scratch": 0}
_NESTING_MAX = 64
"""Objects and lists inside each other: a set needs 6."""
_PARAMS_MAX = 1024
"""CUDA gives a kernel 32,764 bytes of parameters: none has more than this."""


class Parsed(msgspec.Struct, frozen=True):
    """What a text says, or what is wrong with it."""

    captured: CapturedSet | None
    """None where there are faults."""
    faults: Sequence[str] = ()
    foreign: bool = False
    """Whether it records no seals, as another tool's does. `assumes16` is then `div16`."""
    bin_dir: str = "cubins"
    bin_ext: str = "cubin"


def parse(text: bytes) -> Parsed:
    """The set that a text describes. Nothing in it is trusted."""
    if not text:
        return Parsed(None, ["the file is empty; expected one JSON object with `kernels`"])
    if len(text) > AOT_BYTES_MAX:
        return Parsed(None, [f"the file has {len(text)} bytes; expected at most {AOT_BYTES_MAX}, as engines read no more"])
    try:
        document = json.loads(text.decode(), object_pairs_hook=_members, parse_constant=_no_number, parse_int=_integer)
    except json.JSONDecodeError as error:
        return Parsed(None, [f"{error.lineno}:{error.colno}: no valid JSON ({error.msg})"])
    except UnicodeDecodeError as error:
        return Parsed(None, [f"no valid JSON (byte {error.start} is no UTF-8)"])
    except RecursionError:
        return Parsed(None, ["no valid JSON (it is nested too deeply)"])
    except ValueError as error:
        return Parsed(None, [f"no valid JSON ({error})"])
    if _is_nested(document, _NESTING_MAX):
        return Parsed(None, ["no valid JSON (it is nested too deeply)"])
    if b"\\u" in text and not _is_unicode(document):
        return Parsed(None, ["no valid JSON (a string holds one half of a surrogate pair)"])
    if not isinstance(document, dict):
        return Parsed(None, [f"the file holds {article(document)}; expected an object with `kernels`"])
    return _parse_document(document)


def _parse_document(document: dict[str, Any]) -> Parsed:
    faults: list[str] = []
    if not isinstance(kernels := document.get("kernels"), list):
        return Parsed(None, [f"`kernels` is {article(kernels)}; expected a list" if "kernels" in document else "`kernels` is missing"])
    generator = _generator(document.get("generator"))
    ours, sealed = generator.get("name") == OURS, any(map(_claims_seal, kernels))
    if ours and kernels and not sealed:
        return Parsed(None, [UNSEALED])
    foreign = not ours and not sealed
    read = []
    for index, value in enumerate(kernels):
        place = f"kernels[{index}]"
        if isinstance(value, dict):
            read.append(_kernel(Fields(value, place, faults), foreign))
        else:
            faults.append(f"{place} is {article(value)}; expected an object")
    top = Fields(document, "aot.json", faults)
    policy = document.get("policy")
    captured = CapturedSet(
        generator=generator,
        target=top.word("target", ""),
        policy=policy if isinstance(policy, str) else "",
        provenance=document["provenance"] if isinstance(document.get("provenance"), dict) else {},
        kernels=read,
    )
    bin_dir, bin_ext = top.file_name("bin_dir", "cubins"), top.file_name("bin_ext", "cubin")
    # A claim is judged only where each field is what it must be.
    faults += soundness(read) if not faults and not foreign else []
    return Parsed(None if faults else captured, faults, foreign, bin_dir, bin_ext)


def _claims_seal(kernel: Any) -> bool:
    """Whether an entry claims to be sealed: then it must be, whole."""
    if not isinstance(kernel, dict):
        return False
    params = kernel.get("params")
    return "seal" in kernel or "alias" in kernel or isinstance(params, list) and any(isinstance(p, dict) and "assumes16" in p for p in params)


def _generator(value: Any) -> dict[str, str]:
    if isinstance(value, dict):
        return {name: text for name, text in value.items() if isinstance(text, str)}
    return {"name": value} if isinstance(value, str) else {}


def _kernel(fields: Fields, foreign: bool) -> SetKernel:
    function, digest, name = fields.word("fn"), fields.file_name("hash"), fields.word("name")
    warps = fields.whole("num_warps", 1, 64)
    stages = fields.whole("num_stages", 0, 1024, 0)
    kernel = SetKernel(
        fn=function,
        hash=digest,
        name=name,
        num_warps=warps,
        num_stages=stages,
        num_ctas=fields.whole("num_ctas", 1, 32, 1),
        warp_size=fields.whole("warp_size", 1, 128, 32),
        shared=fields.whole("shared", 0, 1 << 30, 0),
        pdl=fields.boolean("pdl", False),
        params=_params(fields, foreign),
        consts=_consts(fields),
        sha256=fields.word("sha256", "" if foreign else None),
        requested=_requested(fields, warps, stages, foreign),
        kinds=_words(fields, "kinds", ("bool", "f64")),
        texts=_words(fields, "texts", None),
        alias=fields.boolean("alias", False if foreign else None),
        seal=fields.word("seal", "" if foreign else None),
        **_NO_SCRATCH,
    )
    for field, wanted in _NO_SCRATCH.items():
        if (found := fields.whole(field, 0, (1 << 32) - 1, wanted)) != wanted:
            fields.faults.append(f"{fields.place} ({function}): `{field}` is {found}; expected {wanted}, since engines give no scratch memory")
    return kernel


def _params(fields: Fields, foreign: bool) -> list[SetParameter]:
    params: list[SetParameter] = []
    names: set[str] = set()
    values = fields.items("params")
    if len(values) > _PARAMS_MAX:
        fields.fault(f"`params` has {len(values)} items; expected at most {_PARAMS_MAX}")
        return params
    for index, value in enumerate(values):
        place = f"{fields.place}.params[{index}]"
        if (inner := fields.inner(value, place)) is None:
            continue
        name, type_ = inner.word("name"), inner.word("type")
        div16, nospec = inner.boolean("div16"), inner.boolean("nospec")
        params.append(SetParameter(name, type_, div16, nospec, div16 if foreign else inner.boolean("assumes16")))
        if name in names and name != STAND_IN:
            inner.fault(f"a second param named `{name}`")
        names.add(name)
    return params


def _consts(fields: Fields) -> dict[str, SetConstant]:
    consts = {}
    for name, value in fields.members("consts").items():
        if not is_word(name):
            fields.fault("`consts` has a name that holds a space or a control character")
        elif (constant := _constant(value)) is None:
            fields.faults.append(f"{fields.place}.consts.{name}: {_CONSTANT_FORM}")
        else:
            consts[name] = constant
    return consts


def _constant(value: Any) -> SetConstant | None:
    if not isinstance(value, dict) or len(value) != 1:
        return None
    ((kind, inner),) = value.items()
    if kind == "none":
        return SetConstant(none=True) if inner is True else None
    if type(inner) is not int:
        return None
    if kind == "int":
        return SetConstant(whole=inner)
    return SetConstant(f32=inner) if kind == "f32" and 0 <= inner < 1 << 32 else None


def _requested(fields: Fields, warps: int, stages: int, foreign: bool) -> dict[str, int]:
    members = fields.members("requested", {} if foreign else None)
    if not isinstance(fields.object.get("requested"), dict):
        return {"num_stages": stages, "num_warps": warps}
    inner = Fields(members, f"{fields.place}.requested", fields.faults)
    return {"num_stages": inner.whole("num_stages", 0, 1024), "num_warps": inner.whole("num_warps", 1, 64)}


def _words(fields: Fields, name: str, valid: Sequence[str] | None) -> dict[str, str]:
    """An object of strings, by names; of these strings where `valid` is given."""
    words = {}
    for key, value in fields.members(name, {}).items():
        if not is_word(key) or not isinstance(value, str):
            fields.fault(f"`{name}` is no object of strings by name")
        elif valid and value not in valid:
            fields.fault(f"`{name}` holds `{value}`; expected {' or '.join(valid)}")
        else:
            words[key] = value
    return words


def _is_nested(value: Any, deeper: int) -> bool:
    """Whether there are more objects and lists inside each other than `deeper`."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return inner is not None and (deeper == 0 or any(_is_nested(each, deeper - 1) for each in inner))


def _is_unicode(document: Any) -> bool:
    """Whether every string can be written: JSON's escapes can tell of halves of surrogate pairs, which no text holds."""
    try:
        json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("an object names a field twice")
    return members


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no number")


def _integer(text: str) -> int | float:
    """An int of 64 bits; a float stands for any other, whose digits are of no matter, and for -0, which has no int."""
    value = int(text) if len(text) <= 20 and text != "-0" else I64_MAX + 1
    return value if I64_MIN <= value <= I64_MAX else float("inf")
