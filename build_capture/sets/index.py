"""Finds the entries of a set that can fit a launch, without looking at the others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from build_capture.sets.launch import Launch
from build_capture.sets.model import SetConstant, SetKernel
from build_capture.sets.rule import fits

_Value = tuple[str, int]
_Values = tuple[_Value, ...]
_Classes = frozenset[tuple[str, str, object]]


class Index:
    """The entries of a set, by function, by the constexprs in which those of a function differ, and by the arguments' classes."""

    def __init__(self, kernels: Iterable[SetKernel]) -> None:
        lists: dict[str, list[SetKernel]] = defaultdict(list)
        for kernel in kernels:
            lists[kernel.fn].append(kernel)
        self._functions = {function: _Function(entries) for function, entries in lists.items()}

    @property
    def functions(self) -> list[str]:
        """The functions that the set has entries of, in file order of their first ones."""
        return list(self._functions)

    def of_function(self, function: str) -> Sequence[SetKernel]:
        """The entries of a function in file order; none of one that the set lacks."""
        return self._functions[function].entries if function in self._functions else ()

    def of_constexprs(self, launch: Launch) -> Sequence[SetKernel]:
        """The entries that can hold the constexprs that the launch names, in file order."""
        return self._functions[launch.function].of_constexprs(launch) if launch.function in self._functions else ()

    def fitting(self, launch: Launch) -> list[SetKernel]:
        """The entries that fit the launch under the exact rule, in file order."""
        return self._functions[launch.function].fitting(launch) if launch.function in self._functions else []


class _Function:
    """The entries of one function."""

    def __init__(self, entries: list[SetKernel]) -> None:
        self.entries = entries
        self._keyed = _varying(entries)
        self._unspecialized = sorted({_unspecialized(entry) for entry in entries}, key=sorted)
        by_values: dict[_Values, list[SetKernel]] = defaultdict(list)
        by_classes: dict[tuple[_Values, frozenset[str], _Classes], list[int]] = defaultdict(list)
        for position, entry in enumerate(entries):
            values = tuple(_value(entry.consts.get(name)) for name in self._keyed)
            by_values[values].append(entry)
            by_classes[values, _unspecialized(entry), _classes_of_entry(entry)].append(position)
        self._by_values, self._by_classes = dict(by_values), dict(by_classes)

    def of_constexprs(self, launch: Launch) -> Sequence[SetKernel]:
        values = self._values(launch)
        return self.entries if values is None else self._by_values.get(values, ())

    def fitting(self, launch: Launch) -> list[SetKernel]:
        values = self._values(launch)
        if values is None:
            return [entry for entry in self.entries if fits(entry, launch)]
        found: list[int] = []
        for names in self._unspecialized:
            found += self._by_classes.get((values, names, _classes_of_launch(launch, names)), ())
        # The key leaves out what cannot be told from the launch alone, such as which of its ints an entry folded.
        return [self.entries[position] for position in sorted(found) if fits(self.entries[position], launch)]

    def _values(self, launch: Launch) -> _Values | None:
        """The values that the launch names of the keyed constexprs; None where it does not name them all."""
        named = {constexpr.name: (constexpr.kind, constexpr.value) for constexpr in launch.constexprs}
        try:
            return tuple(named[name] for name in self._keyed)
        except KeyError:
            return None


def _varying(entries: list[SetKernel]) -> tuple[str, ...]:
    """The constants in which the entries of a function differ; a name that some entry has as a parameter is a folded int, not a constexpr."""
    params = {param.name for entry in entries for param in entry.params}
    names = {name for entry in entries for name in entry.consts} - params
    return tuple(sorted(name for name in names if len({_value(entry.consts.get(name)) for entry in entries}) > 1))


def _value(constant: SetConstant | None) -> _Value:
    return ("absent", 0) if constant is None else constant.form


def _unspecialized(entry: SetKernel) -> frozenset[str]:
    """The parameters of which any value fits: of a launch, their classes do not tell."""
    return frozenset(param.name for param in entry.params if param.nospec and param.type == "i32")


def _classes_of_entry(entry: SetKernel) -> _Classes:
    unspecialized = _unspecialized(entry)
    return frozenset((p.name, p.type, p.type != "fp32" and (p.div16 if p.name not in unspecialized else None)) for p in entry.params)


def _classes_of_launch(launch: Launch, unspecialized: frozenset[str]) -> _Classes:
    """What an entry with these parameters unspecialized has where it fits; its other ints of value 1 are folded, so it lacks them."""
    classes: list[tuple[str, str, object]] = []
    for argument in launch.arguments:
        if argument.type == "i32" and argument.name in unspecialized:
            classes.append((argument.name, argument.type, None))
        elif argument.type != "i32" or argument.value != 1:
            classes.append((argument.name, argument.type, argument.type != "fp32" and argument.divisible))
    return frozenset(classes)
