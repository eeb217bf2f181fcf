"""Draws sets and launches at random, so that matches, fallbacks, ambiguities and near misses are all frequent."""

from __future__ import annotations

from random import Random
from typing import Any

import msgspec

from build_capture.sets.launch import Argument, Launch, LaunchConstant
from build_capture.sets.model import SetConstant, SetKernel, SetParameter
from build_capture.sets.seal import sealed
from tests.sets.entries import bits, constant, entry, of_another_tool, param, set_of

RUNTIME = {"X": "*bf16", "Y": "*i32", "W": "i32", "N": "i32", "S": "u64", "e": "fp32"}
CONSTEXPRS: dict[str, list[Any]] = {"D": [64, 128], "SCALE": [0.0, -0.0], "MASK": [None, 3], "FLAG": [1]}
INTS = [1, 1, 2, 17, -1, 16, 0, -16, 2147483647, -2147483648]
ADDRESSES = [0, 4, 8, 16, 0x7000_0000_0010, (1 << 64) - 16, (1 << 64) - 1]


def draw_kernels(random: Random) -> list[SetKernel]:
    """The entries of a sound, sealed set: of one kernel as it was compiled for other classes, constexprs and options, and aliases of these."""
    names = [name for name in RUNTIME if random.random() < 0.5]
    constexprs = [name for name in CONSTEXPRS if random.random() < 0.4]
    kernels = [_draw_compiled(random, names, constexprs, place) for place in range(random.randint(2, 5))]
    kernels += [_draw_alias(random, random.choice(kernels)) for _ in range(random.choice([0, 0, 1, 2]))]
    random.shuffle(kernels)
    return kernels


def draw_text(random: Random, kernels: list[SetKernel]) -> bytes:
    """The set's `aot.json`: ours, or, as often, another tool's, which seals nothing and claims what it wants."""
    if random.random() < 0.5:
        return msgspec.json.encode(msgspec.to_builtins(set_of(*kernels)))
    document = without_seals(kernels)
    del document["generator"], document["policy"], document["provenance"]
    for each in (param for kernel in document["kernels"] for param in kernel["params"]):
        each["nospec"] |= random.random() < 0.1
    return msgspec.json.encode(document)


def without_seals(kernels: list[SetKernel]) -> dict[str, Any]:
    """The set without what only sealed ones have; `generator` still says that it is ours."""
    document: dict[str, Any] = msgspec.to_builtins(set_of(*kernels))
    return of_another_tool(document) | {"generator": document["generator"]}


def draw_launch(random: Random, kernels: list[SetKernel]) -> Launch:
    """A launch that is much like one that an entry serves."""
    like = random.choice(kernels)
    arguments = [_draw_argument(random, p.name, p.type, p) for p in like.params]
    arguments += [_draw_argument(random, name, "i32", None) for name in like.consts if name in RUNTIME and random.random() < 0.97]
    constexprs = [_draw_constexpr(random, name, value) for name, value in like.consts.items() if name in CONSTEXPRS and random.random() < 0.7]
    change = random.random()
    if change < 0.03 and arguments:
        arguments.pop()
    elif change < 0.06:
        arguments.append(_draw_argument(random, random.choice(list(RUNTIME)), "i32", None))
    elif change < 0.08 and constexprs:
        constexprs.append(_draw_constexpr(random, constexprs[0].name, constant(64)))
    random.shuffle(arguments)
    random.shuffle(constexprs)
    return Launch(
        function="_g" if random.random() < 0.01 else "_f",
        arguments=tuple(arguments),
        constexprs=tuple(constexprs),
        num_warps=random.choice([None, None, None, like.num_warps, like.num_warps, 4]),
        num_stages=random.choice([None, None, None, like.num_stages or 2, like.num_stages or 2, 3]),
    )


def _draw_compiled(random: Random, names: list[str], constexprs: list[str], place: int) -> SetKernel:
    params, consts = [], {}
    for name in names:
        if RUNTIME[name] == "i32" and random.random() < 0.2:
            consts[name] = 1
        elif RUNTIME[name] == "fp32":
            params.append(param(name, "fp32"))
        else:
            hints = ("div16",) if random.random() < 0.35 else ("nospec",) if random.random() < 0.2 else ()
            type_ = RUNTIME[name] if random.random() < 0.97 else "i64"
            params.append(param(name, type_, *hints))
    values = {name: random.choice(CONSTEXPRS[name]) for name in constexprs if random.random() < 0.97}
    kinds = {name: "bool" for name in values if name == "FLAG" and random.random() < 0.5}
    texts = {"MODE": random.choice(["ieee", "tf\n32"])} if random.random() < 0.1 else {}
    warps, stages = random.choice([4, 4, 8]), random.choice([2, 2, 2, 3, 0])
    return entry(*params, consts=values | consts, kinds=kinds, texts=texts, warps=warps, stages=stages, hash=f"hash{place}")


def _draw_alias(random: Random, kernel: SetKernel) -> SetKernel:
    """A further entry of a cubin, which serves no value that its code does not."""
    params = [p if p.assumes16 else _draw_served(random, p) for p in kernel.params]
    return sealed(msgspec.structs.replace(kernel, params=params, alias=True, seal=""))


def _draw_served(random: Random, parameter: SetParameter) -> SetParameter:
    if parameter.type == "fp32":
        return parameter
    return msgspec.structs.replace(parameter, div16=random.random() < 0.4, nospec=random.random() < 0.4)


def _draw_argument(random: Random, name: str, type_: str, like: SetParameter | None) -> Argument:
    """An argument, mostly one that a parameter takes; without one an int, mostly 1, which an entry may have folded."""
    pool = ADDRESSES if type_ in ("u64", "*bf16", "*i32") else INTS
    if like is None:
        pool = [1] if random.random() < 0.8 else INTS
    elif random.random() < (0.92 if like.div16 else 0.75):
        pool = [value for value in pool if value % 16 == 0] if like.div16 else [value for value in pool if value % 16 and (value != 1 or type_ != "i32")]
    if type_ == "fp32":
        return Argument(name, type_, bits(random.choice([0.0, 1e-6, 16.0, 3.4e38])))
    change = random.random()
    if change < 0.01:
        return Argument(name, "*fp16", random.choice(ADDRESSES))
    if change < 0.02 or type_ == "i64":
        return Argument(name, "i32", random.choice(INTS))
    return Argument(name, type_, random.choice(pool))


def _draw_constexpr(random: Random, name: str, held: SetConstant) -> LaunchConstant:
    value = held.python if random.random() < 0.95 else random.choice([64, 128, 0.0, -0.0, 0.1, 1])
    if isinstance(value, float):
        return LaunchConstant(name, "f32", bits(value))
    return LaunchConstant(name, "int", 0 if value is None else value)
