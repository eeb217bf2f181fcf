"""Reads what the profile gives for a value: numbers, lists, ranges, formulas, buckets and alignments."""

from __future__ import annotations

import math
import sys
from typing import Any

from build_capture.errors import nearest
from build_capture.plan.formula import Formula, FormulaProblem, constant, parse
from build_capture.plan.leaves import Leaf
from build_capture.plan.pieces import ALIGNMENT, Domain, Piece, address
from build_capture.plan.zig_text import zig_name, zig_string
from build_capture.read.profile import Given, Profile

FORMS = {
    ("from", "to", "step"): "a range",
    ("buckets", "to", "cap"): "graph buckets",
    ("alignment",): "an address",
    ("row_bytes",): "an address that moves row by row",
}
"""The structs that a domain can be, by their fields."""

EITHER_BYTES = 2
"""`.either` means every multiple of two bytes: no element that engines point at is smaller, and sums stay complete."""


FLOAT_MOST = {"f16": 65504.0, "f32": (2 - 2**-23) * 2.0**127}
"""The greatest number of a float that is narrower than the profile's own."""


class GivenProblem(Exception):
    """What is wrong with a domain of the profile, where, and how to mend it."""

    def __init__(self, node: dict[str, Any], what: str, mend: str) -> None:
        super().__init__(what)
        self.position = (node["line"], node["column"])
        self.mend = mend


def read_given(given: Given, leaf: Leaf, index: int, profile: Profile) -> Domain:
    """The domain that `given` writes for the value at `index` of its method; raises a `GivenProblem`."""
    reason = f".{given.name} of {profile.path.name}"
    position = (given.line, given.column)
    if leaf.is_whole:
        pieces, null = _whole(given.node, leaf, index)
        shown = ", ".join(dict.fromkeys(_show(given.node)))
        return Domain(True, reason, shown, pieces=tuple(pieces), null=null, position=position)
    values = tuple(dict.fromkeys(_other(given.node, leaf)))
    if not values:
        raise GivenProblem(given.node, "the list is empty", "give at least one value")
    return Domain(True, reason, ", ".join(values), values=values, position=position)


def _whole(node: dict[str, Any], leaf: Leaf, index: int) -> tuple[list[Piece], bool]:
    """The pieces of a domain of whole numbers, and whether null is among its values."""
    if node["kind"] == "array":
        parts = [_whole(item, leaf, index) for item in node["items"]]
        return [piece for pieces, _ in parts for piece in pieces], any(null for _, null in parts)
    if node["kind"] == "null":
        if not leaf.optional:
            raise GivenProblem(node, f"null is no value of {leaf.type.type}", "give a number")
        return [], True
    if node["kind"] == "struct":
        return _of_struct(node, leaf, index), False
    return [Piece(_formula(node))], False


def _formula(node: dict[str, Any]) -> Formula:
    if node["kind"] == "int":
        return constant(node["value"])
    if node["kind"] != "string":
        raise GivenProblem(node, f"a {node['kind']} is no whole number", 'write a number, or a formula such as "ceil(rows / 64)"')
    try:
        return parse(node["value"])
    except FormulaProblem as problem:
        raise GivenProblem(node, str(problem), 'write a number, or a formula such as "ceil(rows / 64)"') from problem


def _of_struct(node: dict[str, Any], leaf: Leaf, index: int) -> list[Piece]:
    fields = {field["name"]: field["value"] for field in node["fields"]}
    form = next((form for form in FORMS if form[0] in fields), None)
    known = form or [name for names in FORMS for name in names]
    for field in node["fields"]:
        if field["name"] not in known:
            raise GivenProblem(field, f"a domain has no field .{field['name']}", nearest(field["name"], known))
    if form is None:
        raise GivenProblem(node, "the domain is empty", "write .{ .from = 1, .to = 64 }")
    if form[0] == "from":
        return [_range(node, fields)]
    if form[0] == "buckets":
        return _buckets(fields)
    if leaf.type.bits != 64:
        raise GivenProblem(node, f"{leaf.type.type} is no address", "expected a 64-bit parameter")
    if form[0] == "alignment":
        bytes_ = _alignment(fields["alignment"])
    else:
        bytes_ = math.gcd(_number(fields["row_bytes"], 1, 1 << 20), ALIGNMENT)
    return [Piece(constant(address(index, residue))) for residue in range(0, ALIGNMENT, bytes_)]


def _range(node: dict[str, Any], fields: dict[str, dict[str, Any]]) -> Piece:
    if "to" not in fields:
        raise GivenProblem(node, "the range has no .to", "write .{ .from = 1, .to = 64 }")
    step = _number(fields["step"], 1, 1 << 31) if "step" in fields else 1
    return Piece(_formula(fields["from"]), _formula(fields["to"]), step)


def _buckets(fields: dict[str, dict[str, Any]]) -> list[Piece]:
    """Eager rounds take every count from 1 on, graphs every bucket, which may lie beyond the eager counts."""
    listed = fields["buckets"]
    if listed["kind"] != "array" or not listed["items"]:
        raise GivenProblem(listed, ".buckets is no list", "write .buckets = .{ 1, 2, 4, 8, 16 }")
    cap = _number(fields["cap"], 1, 1 << 31) if "cap" in fields else None
    buckets = [_number(item, 1, 1 << 31) for item in listed["items"]]
    eager = _formula(fields["to"]) if "to" in fields else parse("parallel")
    return [Piece(constant(1), eager), *(Piece(constant(bucket)) for bucket in buckets if cap is None or bucket <= cap)]


def _alignment(node: dict[str, Any]) -> int:
    words = {"either": EITHER_BYTES, "aligned": ALIGNMENT}
    if node["kind"] == "enum" and node["value"] in words:
        return words[node["value"]]
    if node["kind"] == "int" and node["value"] in (1, 2, 4, 8, ALIGNMENT):
        return int(node["value"])
    raise GivenProblem(node, "it is no alignment", "write .either, .aligned, or 1, 2, 4, 8 or 16 bytes")


def _number(node: dict[str, Any], low: int, high: int) -> int:
    if node["kind"] != "int" or not low <= node["value"] <= high:
        raise GivenProblem(node, f"expected a whole number from {low} to {high}", f"write {low}")
    return int(node["value"])


def _other(node: dict[str, Any], leaf: Leaf) -> list[str]:
    """Values of anything but whole numbers, as Zig writes them."""
    if leaf.presence:
        if node["kind"] == "null":
            return ["false"]
        if node["kind"] == "enum" and node["value"] == "present":
            return ["true"]
        raise GivenProblem(node, f"{leaf.key} is a struct that may be null", "write null, or .present, or give its fields")
    if node["kind"] == "array":
        return [value for item in node["items"] for value in _other(item, leaf)]
    if node["kind"] == "null" and leaf.optional:
        return ["null"]
    kind, value = leaf.type.kind, node.get("value")
    if kind == "enum" and node["kind"] == "enum":
        if value not in leaf.type.tags:
            raise GivenProblem(node, f"{leaf.type.type} has no .{value}", nearest(str(value), leaf.type.tags))
        return [f".{zig_name(str(value))}"]
    if kind == "bool" and node["kind"] == "bool":
        return ["true" if value else "false"]
    if kind == "float" and node["kind"] in ("int", "float"):
        number = float(str(value))
        if abs(number) > FLOAT_MOST.get(leaf.type.type, sys.float_info.max):
            raise GivenProblem(node, f"{number} does not fit {leaf.type.type}", f"give a number that an {leaf.type.type} has")
        return [repr(number)]
    if kind == "text" and node["kind"] == "string":
        return [zig_string(str(value))]
    raise GivenProblem(node, f"a {node['kind']} is no value of {leaf.type.type}", f"give a {kind}, or a list of them")


def _show(node: dict[str, Any]) -> list[str]:
    """A domain of whole numbers as people read it."""
    if node["kind"] == "array":
        return [part for item in node["items"] for part in _show(item)]
    if node["kind"] != "struct":
        return ["null" if node["kind"] == "null" else str(node["value"])]
    fields = {field["name"]: ", ".join(_show(field["value"])) for field in node["fields"]}
    if "from" in fields:
        return [f"{fields['from']}..{fields['to']}" + (f" by {fields['step']}" if "step" in fields else "")]
    if "buckets" in fields:
        return [f"1..{fields.get('to', 'parallel')} and buckets {fields['buckets']}"]
    if "row_bytes" in fields:
        return [f"{fields['row_bytes']} bytes a row"]
    return [{"either": "aligned or not", "aligned": "aligned"}.get(fields["alignment"], f"multiples of {fields['alignment']} bytes")]
