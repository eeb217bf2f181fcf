"""From a need of a capture to the needs of its examples. See ``examples``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .example_tools import REAL, Geometry, Need

WHOLE_ROUND = ("_paths", "_shared", "_tail", "_merge", "_gdn_pre")
"""Kernels that see a round's windows; of the others a launch's rows are all that counts."""

NAMES = {
    "_embed": {"hidden": "D"},
    "_add_rmsnorm": {"hidden": "D"},
    "_gdn_pre": {"key_heads": "KH", "value_heads": "VH", "delta_width": "DK"},
    "_gated_norm": {"value_heads": "VH", "delta_width": "DV"},
    "_swiglu": {"intermediate": "N", "block": "BLOCK"},
    "_attn_prep": {"heads": "H", "kv_heads": "HKV", "width": "D", "half": "HALF"},
    "_gate_mul": {"heads": "H", "width": "D"},
    "_group_sums": {},
    "_paths": {"depth": "MAXD"},
    "_shared": {"heads": "H", "kv_heads": "HK", "width": "D", "chunk": "CH"},
    "_tail": {"heads": "H", "kv_heads": "HK", "width": "D", "chunk": "CH", "depth": "MAXD"},
    "_merge": {"heads": "H", "width": "D", "slice": "DS", "chunk": "CH"},
}
"""Launch name -> size -> the constexpr that holds it."""

COMPACT_VOCABULARY = 1000
"""Rows of the embedding table in a compact example: the real one has 0.7 GB."""
COMPACT_KEYS = (1100, 520, 30)
"""Committed keys a stream in a compact example."""

MANY_ROWS = {"div16": 256, "any": 250}
"""Rows of the second example, by the class of the row count; with one row there is no other."""
WINDOW_ROWS = 16
"""Rows of a window in it."""


def needs_for(need: dict[str, Any], compact: bool) -> list[Need]:
    """The example of the witness, then one with many rows in as few streams as hold them."""
    first = witness_need(need)
    if compact:
        return [replace(first, committed=COMPACT_KEYS, geometry=replace(first.geometry, vocabulary=COMPACT_VOCABULARY))]
    rows = MANY_ROWS.get(rows_class(need) or "any")
    if rows is None:
        return [first]
    # A single stream has tables of its own, and no other specialization may come of it.
    many = replace(first, rows=rows, streams=-(-rows // WINDOW_ROWS), windows=(), seed=1)
    return [first, replace(many, rows=WINDOW_ROWS - 3, streams=1) if need["constexprs"].get("MULTI") == 0 else many]


def witness_need(need: dict[str, Any]) -> Need:
    """The need of an example of the very launch that the witness tells of, as far as that has the need's classes."""
    function, witness, constexprs = need["function"], need["witness"], need["constexprs"]
    values = {each["name"]: each["value"] for each in witness["values"]}
    windows = tuple(witness["windows"]) if function in WHOLE_ROUND else ()
    classes = {each["name"]: each["class"] for each in need["parameters"]}
    launched = sum(windows) if windows else witness["grid"][0] if witness["grid"] else 1
    rows = fitted(launched, rows_class(need))
    streams = len(windows) or 1
    if "MULTI" in constexprs:
        # A prompt chunk may name its one stream by id, among the states of several.
        streams = max(streams, 2) if constexprs["MULTI"] else 1
    return Need(
        rows=rows,
        streams=streams,
        windows=windows if len(windows) == streams and rows == launched else (),
        misaligned=frozenset(name for name, class_ in classes.items() if class_ == "unaligned"),
        residual=bool(constexprs.get("HAS_R", 1)),
        stride=fitted(int(values["ldx"]), classes["ldx"]) if "ldx" in values else None,
        groups=constexprs.get("KG"),
        geometry=geometry_of(function, constexprs),
    )


def rows_class(need: dict[str, Any]) -> str | None:
    """The class of the number of rows, where that is an argument: W as an int, which is a weight elsewhere."""
    return next((each["class"] for each in need["parameters"] if each["name"] == "W" and each["type"] == "i32"), None)


def fitted(value: int, class_: str | None) -> int:
    """A witness's value, or the nearest of this class: code that a policy made for several classes has a witness of one."""
    found = "one" if value == 1 else "any" if value % 16 else "div16"
    if class_ is None or found == class_:
        return value
    return {"one": 1, "div16": -(-value // 16) * 16, "any": value + 1}[class_]


def geometry_of(function: str, constexprs: dict[str, Any]) -> Geometry:
    """The sizes that a launch's constexprs name; the family's own for the rest."""
    sizes = {size: constexprs[name] for size, name in NAMES[function].items()}
    if function == "_merge":
        sizes["kv_heads"] = constexprs["H"] // constexprs["G"]
    return replace(REAL, **sizes)
