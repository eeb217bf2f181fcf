"""What tells the entries of a function apart, and the needs that they are to serve, for people."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import msgspec

from build_capture.plan.needs import Class, Need, fp32_bits
from build_capture.sets.model import SetKernel


class Apart(msgspec.Struct, frozen=True):
    """What is particular to an entry, or a need."""

    hints: str
    """What it serves, without what is plain, aligned pointers and floats, which have no classes: `STREAM=unaligned W=any`."""
    constants: dict[str, str]
    """The constexprs in which the entries and needs of its function differ, each with its kind: `BM` -> `int:16`, or `absent`."""

    @property
    def text(self) -> str:
        """All of it in a line, the constexprs without their kinds: `W=any BM=16`."""
        return " ".join(filter(None, (self.hints, self.shown_constants)))

    @property
    def shown_constants(self) -> str:
        """The constexprs without their kinds: `BM=16`."""
        return " ".join(f"{name}={value.partition(':')[2] or value}" for name, value in self.constants.items())


class _Item(msgspec.Struct, frozen=True):
    """An entry or a need, as far as it is compared."""

    function: str
    params: dict[str, str]
    """Each runtime parameter that is not folded, with its class."""
    constants: dict[str, str]
    """Each constexpr and folded int, with its kind and value."""
    is_entry: bool


def tell_apart(kernels: Sequence[SetKernel], needs: Sequence[Need] = ()) -> list[Apart]:
    """What is particular to each of the entries, then to each of the needs; those of several functions may be among them."""
    items = [*map(_of_entry, kernels), *map(_of_need, needs)]
    places: dict[str, list[int]] = defaultdict(list)
    for place, item in enumerate(items):
        places[item.function].append(place)
    told: dict[int, Apart] = {}
    for own in places.values():
        told |= zip(own, _of_function([items[place] for place in own]), strict=True)
    return [told[place] for place in range(len(items))]


def _of_entry(kernel: SetKernel) -> _Item:
    return _Item(kernel.fn, {param.name: param.hint for param in kernel.params}, kernel.constants, is_entry=True)


def _of_need(need: Need) -> _Item:
    folded = {parameter.name: "int:1" for parameter in need.parameters if parameter.class_ is Class.ONE}
    params = {p.name: p.class_.value if p.class_ else "" for p in need.parameters if p.name not in folded}
    return _Item(need.function, params, {**{name: str(value) for name, value in need.constexprs.items()}, **folded}, is_entry=False)


def _of_function(items: Sequence[_Item]) -> list[Apart]:
    # A name that some entry has as a parameter is an int that others folded.
    runtime = sorted({name for item in items for name in item.params})
    names = sorted({name for item in items for name in item.constants} - set(runtime))
    varying = [name for name in names if _varies(name, items)]
    return [Apart(_hints(item, runtime), {name: item.constants.get(name, "absent") for name in varying}) for item in items]


def _varies(name: str, items: Sequence[_Item]) -> bool:
    """Whether the entries differ in a constexpr, or what they record of it and what the needs ask for.

    That a set of another tool records nothing of one, and the needs ask for one value of it, tells nothing apart.
    """
    entries = {item.constants.get(name) for item in items if item.is_entry}
    return len(entries) > 1 or len({_form(item.constants[name]) for item in items if name in item.constants}) > 1


def _form(constant: str) -> str:
    """A constexpr as sets hold it: a bool as an int, a double as fp32."""
    kind, _, value = constant.partition(":")
    if kind == "bool":
        return f"int:{int(value == 'True')}"
    if kind in ("f32", "f64") and not value.startswith("nan"):
        return f"f32:{fp32_bits(float(value)):#x}"
    return constant


def _hints(item: _Item, runtime: Sequence[str]) -> str:
    odd = [f"{name}={hint}" for name, hint in item.params.items() if hint not in ("", "aligned")]
    return " ".join([*odd, *(f"{name}=1" for name in runtime if name in item.constants)]) or "aligned"
