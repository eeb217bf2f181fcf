"""The profile, `capture.zon`: what the declarations alone cannot say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

from build_capture.errors import CaptureError, Place, nearest, raise_all

COUNT_MAX = 1 << 20
"""No limit of a profile is larger: a slip of the keyboard, not a server."""


class Limits(msgspec.Struct, frozen=True):
    """How large a served round can be."""

    parallel: int
    """Streams that one round may hold."""
    window_rows: int
    """Rows of one stream's window in a round."""
    prompt_rows: int
    """Rows of one prompt chunk; 0 where prompts are not served through these declarations."""


class Profile(msgspec.Struct, frozen=True):
    """A consumer's profile, checked; paths are resolved."""

    path: Path
    """The profile itself."""
    family: str
    """Names the folder that the set installs to: share/<family>/cuda/sm<NN>/."""
    declarations: Path
    """The declaration file."""
    rounds: Path
    """The consumer's rounds.zig."""
    kernels: Path
    """The folder that holds the family's Triton kernels."""
    target: str
    """The target where the command line names none, such as sm_121."""
    limits: Limits

    @property
    def folder(self) -> Path:
        """The consumer's folder; paths that are shown or recorded are relative to it."""
        return self.path.parent


_STRINGS = ("family", "declarations", "rounds", "kernels", "target")
_KNOWN = (*_STRINGS, "limits", "geometry", "constants")
"""`geometry` and `constants` are for rounds.zig, which reads them through Zig's own types."""
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

    def count(self, fields: dict[str, dict[str, Any]], owner: dict[str, Any], name: str, minimum: int) -> int:
        """A field that has to be a whole number from `minimum` to COUNT_MAX."""
        node = fields.get(name)
        if node is None:
            self.fault(owner, f".limits lacks .{name}", f"add .{name} = {max(minimum, 1)}")
        elif node["kind"] != "int" or not minimum <= node["value"] <= COUNT_MAX:
            self.fault(node, f".{name} is not a whole number from {minimum} to {COUNT_MAX}", f"write .{name} = {max(minimum, 1)}")
        else:
            return int(node["value"])
        return minimum


def profile_from_tree(path: Path, root: dict[str, Any]) -> Profile:
    """Check the reader's tree of `path` and make it a `Profile`; raises every problem at once."""
    walk = _Walk(path)
    fields = walk.fields(root, _KNOWN, "the profile")
    texts = {name: walk.text(fields, root, name) for name in _STRINGS} if fields else dict.fromkeys(_STRINGS, "")
    if texts["family"] and not _FAMILY.fullmatch(texts["family"]):
        walk.fault(fields["family"], f".family is {texts['family']!r}", "expected letters, digits, '.', '_' and '-': it names a folder")
    limits = {"parallel": 1, "window_rows": 1, "prompt_rows": 0}
    if "limits" in fields:
        given = walk.fields(fields["limits"], tuple(limits), ".limits")
        limits = {name: walk.count(given, fields["limits"], name, low) for name, low in limits.items()}
    elif fields:
        walk.fault(root, "the profile lacks .limits", "add .limits = .{ .parallel = 1, .window_rows = 1, .prompt_rows = 0 }")
    folder = path.parent
    for name, kind in (("declarations", "file"), ("rounds", "file"), ("kernels", "folder")):
        place = folder / texts[name]
        if texts[name] and not (place.is_file() if kind == "file" else place.is_dir()):
            walk.fault(fields[name], f".{name}: there is no {kind} {texts[name]}", f"expected a {kind}, named relative to {path.name}")
    raise_all(walk.errors)
    return Profile(
        path=path,
        family=texts["family"],
        declarations=folder / texts["declarations"],
        rounds=folder / texts["rounds"],
        kernels=folder / texts["kernels"],
        target=texts["target"],
        limits=Limits(**limits),
    )
