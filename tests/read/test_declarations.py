"""`declarations`: every way in which launches are written reads correctly."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.read.reader import EXPECTED, FIXTURES, Reader, launches_of, within_tri

FORMS = FIXTURES / "forms"
LAUNCH = 't.set.run(0, "_k", .{ 1, 1, 1 }, &.{}, &.{});'


def check_snapshot(name: str, text: str) -> None:
    """Compare with the file `name`; BUILD_CAPTURE_TEST_UPDATE=1 writes it instead, for a person to read."""
    path = EXPECTED / name
    if os.environ.get("BUILD_CAPTURE_TEST_UPDATE") == "1":
        path.write_text(text)
    assert path.read_text() == text


def test_declarations_forms_snapshot(reader: Reader) -> None:
    answer = reader.read("declarations", FORMS / "triton.zig")
    check_snapshot("forms.json", json.dumps(answer, indent=1, ensure_ascii=False) + "\n")


def test_declarations_counts_every_launch_of_the_forms(reader: Reader) -> None:
    answer = reader.read("declarations", FORMS / "triton.zig")
    written = sum(path.read_text().count('"_') for path in FORMS.rglob("*.zig"))
    # The test's launch is no launch; the two callers name theirs at the call; the launch itself has no name.
    assert len(answer["launches"]) == written - 1 - 2 + 1 == 26
    assert [launch["method"] for launch in answer["launches"] if launch["function"] is None] == ["named"]
    assert {method["name"] for method in answer["methods"]} == {
        "arguments", "options", "direct", "conditions", "lists", "named", "callers", "free", "launch", "norm",
    }  # fmt: skip


def test_declarations_paths_are_relative_to_the_named_file(reader: Reader, tmp_path: Path) -> None:
    folder = tmp_path / "a b" / "ü"
    shutil.copytree(FORMS, folder)
    from_there = reader.good("declarations", "triton.zig", folder=folder)
    assert from_there == reader.good("declarations", folder / "triton.zig")
    assert from_there == reader.good("declarations", "ü/triton.zig", folder=tmp_path / "a b")
    assert json.loads(from_there)["files"] == ["inner/more.zig", "shape.zig", "sizes.zon", "tri_basic.zig", "triton.zig"]
    assert str(tmp_path) not in from_there


def test_declarations_sibling_above_the_named_file(reader: Reader, tmp_path: Path) -> None:
    shutil.copytree(FORMS, tmp_path / "forms")
    answer = reader.read("declarations", tmp_path / "forms/inner/more.zig")
    # Named by `../triton.zig`'s import of `inner/more.zig` again, and still one file.
    assert answer["files"] == ["../shape.zig", "../sizes.zon", "../tri_basic.zig", "../triton.zig", "more.zig"]
    assert len(answer["launches"]) == 26


def test_declarations_lists_what_files_embed(reader: Reader, tmp_path: Path) -> None:
    embeds = "".join(f'const e{number} = @embedFile("{name}");\n' for number, name in enumerate(("sizes.txt", "../note.bin", "gone.txt", "cuda", ".", "other.zig")))
    (tmp_path / "src").mkdir()
    (tmp_path / "note.bin").write_bytes(bytes(range(256)))
    for name, text in {
        "triton.zig": within_tri(LAUNCH) + 'const other = @import("other.zig");\ntest {\n    _ = @embedFile("tested.txt");\n}\n',
        "other.zig": embeds,
        "sizes.txt": "no Zig {",
        "tested.txt": "",
    }.items():
        (tmp_path / "src" / name).write_text(text)
    assert reader.read("declarations", tmp_path / "src" / "triton.zig")["files"] == ["../note.bin", "other.zig", "sizes.txt", "triton.zig"]


@pytest.mark.parametrize(
    ("element", "want"),
    [
        ('p("X", "*i32", x)', ("X", "ptr", "*i32", "x")),
        ('(p("X", "*i32", x))', ("X", "ptr", "*i32", "x")),
        ('aot.word("X", x)', ("X", "u64", None, "x")),
        ('@import("cuda").aot.int("X", 1)', ("X", "i32", None, "1")),
        ('p("X", if (n > 1) "*i32" else "*i64", x)', ("X", "ptr", None, "x")),
        ('p("X" ++ "Y", "*i32", x)', (None, "ptr", "*i32", "x")),
        ('p("\\x41", "*i32", x)', ("A", "ptr", "*i32", "x")),
        ('p("\\xff", "*i32", x)', (None, "ptr", "*i32", "x")),
        ('aot.ci("X", 1)', ("X", "unknown", None, 'aot.ci("X", 1)')),
        ('other.ptr("X", "*i32", x)', ("X", "unknown", None, 'other.ptr("X", "*i32", x)')),
        ("t.arguments[0]", (None, "unknown", None, "t.arguments[0]")),
    ],
)
def test_declarations_argument(reader: Reader, tmp_path: Path, element: str, want: tuple[str | None, ...]) -> None:
    (launch,) = launches_of(reader, tmp_path, within_tri(f't.set.run(0, "_k", .{{ 1, 1, 1 }}, &.{{{element}}}, &.{{}});'))
    assert [tuple(argument.values()) for argument in launch["arguments"]] == [want]


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ('t.run("_k", .{1, 1, 1}, &.{}, &.{});', 1),
        ('t.run("_k", .{1, 1, 1}, &.{}, &.{}, .{ .num_warps = 2 });', 1),
        ('t.set.run(t.s, name, .{1, 1, 1}, list, list);', 1),
        ('t.add("_k", &.{}, &.{}, .{});', 1),
        ('probe.add(name, list, list, .{});', 1),
        # None of these launches a kernel; the last call keeps the file from having no launch at all.
        ('list.add(a, b, c, d); t.set.run(0, "_k", .{1, 1, 1}, list, list);', 1),
        ('graph.run(); t.set.run(0, "_k", .{1, 1, 1}, list, list);', 1),
        ('gemm.run(x, n, x, n); t.set.run(0, "_k", .{1, 1, 1}, list, list);', 1),
        ('t.set.find("_k", &.{}, &.{}); t.set.run(0, "_k", .{1, 1, 1}, list, list);', 2),
        ('_ = t.set.findWith("_k", &.{}, &.{}, .{}); std.mem.find(u8, text, "_k");', 1),
    ],
)  # fmt: skip
def test_declarations_what_is_a_launch(reader: Reader, tmp_path: Path, body: str, count: int) -> None:
    assert len(launches_of(reader, tmp_path, within_tri(body))) == count


@pytest.mark.parametrize(
    ("body", "want"),
    [
        ("{launch};", None),
        ("if (n > 0) {launch};", "if (n > 0)"),
        ("if (n > 0) {{ {{ {launch}; }} }}", "if (n > 0)"),
        ("if (n > 0) {{}} else if (n == 0) {launch};", "if (n == 0)"),
        ("if ({launch}) |_| {{}} else |_| {{}}", None),
        ("if (n > 0) {{}} else |failure| {{ {launch}; }}", "if (n > 0) ... else"),
        ("for (0..n) |_| {{ if (x == 0) return; {launch}; }}", "for (0..n) |_|"),
        ("inline for (.{{ 1, 2 }}) |k| {launch};", "for (.{ 1, 2 }) |k|"),
        ("while (it.next()) |_| {launch};", "while (it.next()) |_|"),
        ("switch (n) {{ 0...3, 7 => {launch}, else => {{}} }}", "switch (n) 0...3, 7 =>"),
        ("defer {launch} catch {{}};", None),
    ],
)
def test_declarations_condition(reader: Reader, tmp_path: Path, body: str, want: str | None) -> None:
    launch = 't.set.run(0, "_k", .{ 1, 1, 1 }, &.{}, &.{})'
    (found,) = launches_of(reader, tmp_path, within_tri(body.format(launch=launch)))
    assert found["condition"] == want


def test_declarations_text_does_not_depend_on_layout(reader: Reader, tmp_path: Path) -> None:
    plain = 't.set.runWith(0, "_k", .{ 1, 1, 1 }, &.{aot.int("W", f(n, x[0]))}, &.{}, .{ .num_warps = g(n) });'
    spread = plain.replace(", x[0])", ", // why\n x[\n0\n],\n)").replace("g(n) }", "g(\nn,\n),\n}").replace("&.{aot", "&.{\naot")
    (first,), (second,) = (launches_of(reader, tmp_path, within_tri(body)) for body in (plain, spread))
    assert first == second
    assert first["arguments"][0]["expression"] == "f(n, x[0])"
    assert first["options"] == ".{ .num_warps = g(n) }"


def test_declarations_position_counts_bytes_from_one(reader: Reader, tmp_path: Path) -> None:
    (launch,) = launches_of(reader, tmp_path, within_tri('const s = "ü"; try t.set.run(0, s, .{ 1, 1, 1 }, &.{}, &.{});'))
    assert (launch["line"], launch["column"], launch["function"]) == (6, 29, "ü")
