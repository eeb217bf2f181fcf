"""`profile`: ZON with the place of each value."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.read.reader import FIXTURES, Reader


def plain(node: dict[str, Any]) -> Any:
    """The value of a node, without its places."""
    if node["kind"] == "struct":
        return {field["name"]: plain(field["value"]) for field in node["fields"]}
    if node["kind"] == "array":
        return [plain(item) for item in node["items"]]
    return (node["kind"], node.get("value"))


def read_text(reader: Reader, folder: Path, text: str) -> dict[str, Any]:
    (folder / "capture.zon").write_text(text)
    return reader.read("profile", folder / "capture.zon")


def test_profile_every_kind_of_value(reader: Reader) -> None:
    root = reader.read("profile", FIXTURES / "capture.zon")
    assert plain(root) == {
        "family": ("string", "qwenü"),
        "limits": {"parallel": ("int", 16), "window_rows": ("int", 16), "negative": ("int", -3)},
        "sizes": [("int", 1), ("float", 2.5), ("int", 97), ("int", 2**64), ("int", -(2**63) - 1)],
        "kind": ("enum", "decode"),
        "odd name": ("bool", True),
        "off": ("bool", False),
        "nothing": ("null", None),
        "empty": {},
        "text": ("string", "two\nlines"),
        "eps": ("float", 1e-6),
    }


def test_profile_positions(reader: Reader) -> None:
    lines = (FIXTURES / "capture.zon").read_text().splitlines()
    root = reader.read("profile", FIXTURES / "capture.zon")
    assert (root["line"], root["column"]) == (1, 1)
    places = 0
    for field in root["fields"]:
        written = lines[field["line"] - 1][field["column"] - 1 :]
        assert written.startswith((field["name"], f'@"{field["name"]}"'))
        value = field["value"]
        text = lines[value["line"] - 1][value["column"] - 1 :]
        starts = {"struct": ".{", "array": ".{", "enum": ".decode", "null": "null", "bool": ("true", "false"), "float": "1e-6", "string": ('"', "\\\\")}
        assert text.startswith(starts[value["kind"]]), (field["name"], text)
        places += 1
    assert places == 10


@pytest.mark.parametrize(
    ("text", "place", "what"),
    [
        (".{ .a = 1, .a = 2 }", "1:5", "duplicate struct field name"),
        (".{ .a = 1 + 2 }", "1:11", "operator '+' is not allowed in ZON"),
        (".{ .a = x }", "1:9", "invalid expression"),
        (".{ .a = 1 ", "1:", "expected"),
        (".{ .a = nan }", "1:9", "not a finite number; expected one"),
        (".{ .a = -inf }", "1:9", "not a finite number; expected one"),
        (".{ .a = 1e999 }", "1:9", "beyond the range of a 64-bit float; expected"),
        ('.{\n    .a = "\\xff" }', "2:10", "the string is not UTF-8; expected text; try \\u{…} in place of \\x"),
        ('.{ .a = "\\q" }', "1:11", "invalid escape character: 'q'"),
        ("", "1:1", "expected expression"),
        (".{" * 49 + "}" * 49, "1:98", "nested too deep; expected at most 48 levels"),
    ],
)
def test_profile_refusal(reader: Reader, tmp_path: Path, text: str, place: str, what: str) -> None:
    (tmp_path / "capture.zon").write_text(text)
    lines = reader.refusal("profile", "capture.zon", folder=tmp_path)
    assert lines[0].startswith(f"capture.zon:{place}"), lines
    assert what in lines[0], lines
    assert lines[-1] == "1 error"


def test_profile_all_problems_in_one_run(reader: Reader, tmp_path: Path) -> None:
    (tmp_path / "capture.zon").write_text(".{\n    .a = nan,\n    .b = 1e999,\n}\n")
    first, second, count = reader.refusal("profile", "capture.zon", folder=tmp_path)
    assert first.startswith("capture.zon:2:10: error: ")
    assert second.startswith("capture.zon:3:10: error: ")
    assert count == "2 errors"


def test_profile_deepest_allowed_nesting(reader: Reader, tmp_path: Path) -> None:
    node = read_text(reader, tmp_path, ".{ .a = " * 48 + "1" + "}" * 48)
    depth = 0
    while node["kind"] == "struct":
        node = node["fields"][0]["value"]
        depth += 1
    assert (depth, node["value"]) == (48, 1)


def test_profile_is_one_line_of_json(reader: Reader) -> None:
    text = reader.good("profile", FIXTURES / "capture.zon")
    assert text.endswith("}\n") and text.count("\n") == 1
    assert json.loads(text)["kind"] == "struct"
