"""What a value ranges over where the profile does not say: only what follows from its name or its type."""

from __future__ import annotations

import msgspec

from build_capture.plan.formula import constant, parse
from build_capture.plan.leaves import Leaf
from build_capture.plan.pieces import Domain, Piece, address
from build_capture.plan.zig_text import zig_name
from build_capture.read.profile import Profile

ROUND_ROWS = "max(parallel * window_rows, prompt_rows)"
"""The rows of the longest round or prompt chunk."""

BY_NAME = {
    ROUND_ROWS: ("rows", "row_count", "rows_count", "n_rows", "num_rows", "width", "w"),
    "parallel": ("parallel", "streams", "stream_count", "n_streams", "num_streams"),
    "window_rows": ("window", "window_rows"),
}
"""What a whole number of such a name runs up to, from 1."""

_REASONS = {
    ROUND_ROWS: "rows of a round or of a prompt chunk",
    "parallel": "streams of a round",
    "window_rows": "rows of a window",
}


def infer(leaf: Leaf, index: int, profile: Profile) -> Domain | None:
    """The domain of the value at `index` of its method, or None where it has to be given."""
    if leaf.presence:
        return Domain(False, "it may be null", "there or null", values=("true", "false"))
    if leaf.type.kind == "bool":
        return _listed(leaf, "a bool", ("false", "true"))
    if leaf.type.kind == "enum":
        return _listed(leaf, f"all of {leaf.type.type}", tuple(f".{zig_name(tag)}" for tag in leaf.type.tags))
    domain = _of_geometry(leaf, profile) or (_of_whole(leaf, index) if leaf.is_whole else None)
    if domain is None or not leaf.optional:
        return domain
    shown, reason = f"{domain.shown} or null", f"{domain.reason}; it may be null"
    if leaf.is_whole:
        return msgspec.structs.replace(domain, shown=shown, reason=reason, null=True)
    return msgspec.structs.replace(domain, shown=shown, reason=reason, values=("null", *domain.values))


def _listed(leaf: Leaf, reason: str, values: tuple[str, ...]) -> Domain:
    values = ("null", *values) if leaf.optional else values
    return Domain(False, reason, ", ".join(values), values=values)


def _of_geometry(leaf: Leaf, profile: Profile) -> Domain | None:
    """A number of the profile's `.geometry` that has the value's path or name."""
    for name in (".".join(leaf.named_path), leaf.named_path[-1]):
        number = profile.geometry.get(name)
        if number is None:
            continue
        reason = f"the profile's .geometry.{name}"
        if leaf.is_whole and isinstance(number, int):
            return Domain(False, reason, str(number), pieces=(Piece(constant(number)),))
        if leaf.type.kind == "float":
            return Domain(False, reason, repr(number), values=(repr(float(number)),))
    return None


def _of_whole(leaf: Leaf, index: int) -> Domain | None:
    if leaf.is_address:
        return Domain(False, "a u64 is an address", "aligned", pieces=(Piece(constant(address(index))),))
    name = leaf.named_path[-1].lower()
    for last, names in BY_NAME.items():
        if name in names:
            return Domain(False, _REASONS[last], f"1..{last}", pieces=(Piece(constant(1), parse(last)),))
    return None


def example(leaf: Leaf) -> str:
    """The form of what would give such a value, for a message: what a person knows is left open, and nothing to paste unread."""
    if leaf.type.kind == "float":
        return "NUMBER"
    return '"*bf16"' if leaf.type.kind == "text" else ".{ .from = LEAST, .to = MOST }"
