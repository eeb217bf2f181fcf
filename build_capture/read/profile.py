"""The profile, `capture.zon`: what the declarations alone cannot say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, cast, get_args

import msgspec

from build_capture.errors import CaptureError, Place, nearest, raise_all

Policy = Literal["exact", "compact", "total"]

POLICIES: tuple[Policy, ...] = get_args(Policy)
"""Which cubins a set holds: see capture/policy/apply.py."""

DEFAULT_PROFILE = Path("capture.zon")
"""The profile of the folder at hand: what a user need not name."""

LIMITS_MAX = {"parallel": 1024, "window_rows": 4096, "prompt_rows": 1 << 20}
"""No limit is larger: a slip of the keyboard, not a server. The probe holds to the same (zig_bridge/coverage/round.zig)."""

CONSTEXPR_VALUES_MAX = 64
"""Each value of a constexpr is a compile of its own; more than these mostly follow a runtime size by mistake."""


class Limits(msgspec.Struct, frozen=True):
    """How large a served round can be."""

    parallel: int
    """Streams that one round may hold."""
    window_rows: int
    """Rows of one stream's window in a round."""
    prompt_rows: int
    """Rows of one prompt chunk; 0 where prompts are not served through these declarations."""


class Given(msgspec.Struct, frozen=True):
    """A field that the profile gives under a name of the consumer's own, or an element of a list of names."""

    name: str
    line: int
    column: int
    node: dict[str, Any]
    """Its value, as the reader prints it."""


class Profile(msgspec.Struct, frozen=True):
    """A consumer's profile, checked; paths are resolved."""

    path: Path
    """The profile itself."""
    family: str
    """Names the folder that the set installs to: share/<family>/cuda/sm<NN>/."""
    declarations: Path
    """The declaration file."""
    rounds: Path | None
    """The consumer's rounds.zig; None where every method is driven over domains."""
    kernels: Path
    """The folder that holds the family's Triton kernels."""
    target: str
    """The target where the command line names none, such as sm_121."""
    limits: Limits
    drives_domains: bool = False
    """Whether methods may be driven over domains: without rounds.zig, or where the profile gives a domain. The build decides
    by the same rule whether the coverage test takes a set's `domains.zig`."""
    domains: tuple[Given, ...] = ()
    """What parameters range over, by name, `method.name` or path."""
    skip: tuple[Given, ...] = ()
    """Methods that are not driven by themselves."""
    constexpr_values_max: int = CONSTEXPR_VALUES_MAX
    """How many values one constexpr may take."""
    policy: Policy = "exact"
    """Which cubins a set holds where the command line does not say (capture/policy)."""
    geometry: dict[str, int | float] = {}
    """The numbers of `.geometry`, by path."""

    def place(self, given: Given | None = None) -> Place:
        """Where a field of the profile stands; the profile as a whole without one."""
        return Place(str(self.path), given.line, given.column) if given else Place(str(self.path))

    @property
    def folder(self) -> Path:
        """The consumer's folder; paths that are shown or recorded are relative to it."""
        return self.path.parent


CONSTEXPR_VALUES_MOST = 1 << 16
"""A profile cannot allow one constexpr more values: each is a compile."""

_STRINGS = ("family", "declarations", "kernels", "target")
FIELDS = (*_STRINGS, "rounds", "limits", "geometry", "constants", "domains", "skip", "constexpr_values_max", "policy")
"""What a profile may have. `constants` is for the probe, which reads it through Zig's own types."""
_FAMILY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class _Walk:
    """Gathers every problem of one profile, each with its place."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.errors: list[CaptureError] = []

    def fault(self, node: dict[str, Any], what: str, mend: str) -> None:
        """Note a problem at `node`."""
        self.errors.append(CaptureError(what, where=Place(str(self.path), node["line"], node["column"]), mend=mend))

    def fields(self, node: dict[str, Any], known: tuple[str, ...], owner: str) -> dict[str, dict[str, Any]]:
        """The fields of a struct by name, unknown and repeated ones noted."""
        if node["kind"] != "struct":
            self.fault(node, f"{owner} is a {node['kind']}", "expected a struct such as .{ .name = value }")
            return {}
        found: dict[str, dict[str, Any]] = {}
        for field in node["fields"]:
            if field["name"] not in known:
                self.fault(field, f"{owner} has no field .{field['name']}", nearest(field["name"], known))
            elif field["name"] in found:
                self.fault(field, f"{owner} gives .{field['name']} twice", "keep one of them")
            found[field["name"]] = field["value"]
        return found

    def text(self, fields: dict[str, dict[str, Any]], root: dict[str, Any], name: str) -> str:
        """A field that has to be a string with something in it."""
        node = fields.get(name)
        if node is None:
            self.fault(root, f"the profile lacks .{name}", f'add .{name} = "…"')
        elif node["kind"] != "string" or not node["value"]:
            self.fault(node, f".{name} is not a string with something in it", f'write .{name} = "…"')
        else:
            return str(node["value"])
        return ""

    def count(self, fields: dict[str, dict[str, Any]], owner: dict[str, Any], name: str, minimum: int, maximum: int) -> int:
        """A field that has to be a whole number from `minimum` to `maximum`."""
        node = fields.get(name)
        if node is None:
            self.fault(owner, f".limits lacks .{name}", f"add .{name} = {max(minimum, 1)}")
        elif node["kind"] != "int" or not minimum <= node["value"] <= maximum:
            self.fault(node, f".{name} is not a whole number from {minimum} to {maximum}", f"write .{name} = {max(minimum, 1)}")
        else:
            return int(node["value"])
        return minimum

    def named(self, node: dict[str, Any] | None) -> tuple[Given, ...]:
        """The fields of `.domains`, whose names are the consumer's own."""
        if node is None or (node["kind"] == "array" and not node["items"]):
            return ()
        if node["kind"] != "struct":
            self.fault(node, f".domains is a {node['kind']}", "expected a struct such as .{ .rows = .{ .from = 1, .to = 64 } }")
            return ()
        return tuple(Given(field["name"], field["line"], field["column"], field["value"]) for field in node["fields"])

    def names(self, node: dict[str, Any] | None) -> tuple[Given, ...]:
        """The elements of `.skip`, each a method's name."""
        if node is None or (node["kind"] == "struct" and not node["fields"]):
            return ()
        items = node.get("items", [])
        if node["kind"] != "array" or any(item["kind"] != "string" for item in items):
            self.fault(node, ".skip is not a list of strings", 'write .skip = .{ "method" }')
            return ()
        return tuple(Given(item["value"], item["line"], item["column"], item) for item in items)


def profile_from_tree(path: Path, root: dict[str, Any]) -> Profile:
    """Check the reader's tree of `path` and make it a `Profile`; raises every problem at once."""
    walk = _Walk(path)
    fields = walk.fields(root, FIELDS, "the profile")
    texts = {name: walk.text(fields, root, name) for name in _STRINGS} if fields else dict.fromkeys(_STRINGS, "")
    if texts["family"] and not _FAMILY.fullmatch(texts["family"]):
        walk.fault(fields["family"], f".family is {texts['family']!r}", "expected letters, digits, '.', '_' and '-': it names a folder")
    limits = {"parallel": 1, "window_rows": 1, "prompt_rows": 0}
    if "limits" in fields:
        given = walk.fields(fields["limits"], tuple(limits), ".limits")
        limits = {name: walk.count(given, fields["limits"], name, low, LIMITS_MAX[name]) for name, low in limits.items()}
    elif fields:
        walk.fault(root, "the profile lacks .limits", "add .limits = .{ .parallel = 1, .window_rows = 1, .prompt_rows = 0 }")
    texts["rounds"] = walk.text(fields, root, "rounds") if "rounds" in fields else ""
    folder = path.parent
    for name, kind in (("declarations", "file"), ("rounds", "file"), ("kernels", "folder")):
        place = folder / texts[name]
        if texts[name] and not (place.is_file() if kind == "file" else place.is_dir()):
            walk.fault(fields[name], f".{name}: there is no {kind} {texts[name]}", f"expected a {kind}, named relative to {path.name}")
    values_max = CONSTEXPR_VALUES_MAX
    if "constexpr_values_max" in fields:
        values_max = walk.count(fields, root, "constexpr_values_max", 1, CONSTEXPR_VALUES_MOST)
    policy = walk.text(fields, root, "policy") if "policy" in fields else "exact"
    if policy and policy not in POLICIES:
        walk.fault(fields["policy"], f".policy is {policy!r}", nearest(policy, POLICIES))
    domains, skip = walk.named(fields.get("domains")), walk.names(fields.get("skip"))
    raise_all(walk.errors)
    return Profile(
        path=path,
        family=texts["family"],
        declarations=folder / texts["declarations"],
        rounds=folder / texts["rounds"] if texts["rounds"] else None,
        kernels=folder / texts["kernels"],
        target=texts["target"],
        limits=Limits(**limits),
        drives_domains=bool(domains) or not texts["rounds"],
        domains=domains,
        skip=skip,
        constexpr_values_max=values_max,
        policy=cast(Policy, policy),
        geometry=dict(_numbers(fields["geometry"], "")) if "geometry" in fields else {},
    )


def _numbers(node: dict[str, Any], path: str) -> Iterator[tuple[str, int | float]]:
    """The numbers of a tree by their paths; what is no number is for rounds.zig alone."""
    if node["kind"] in ("int", "float"):
        yield path, node["value"]
    for field in node["fields"] if node["kind"] == "struct" else ():
        yield from _numbers(field["value"], f"{path}.{field['name']}" if path else field["name"])
