"""What the reader refuses, and the words that it finds for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.read.reader import Reader, launches_of, within_tri

LAUNCH = 't.set.run(0, "_k", .{ 1, 1, 1 }, &.{}, &.{});'


@pytest.mark.parametrize(
    ("text", "place", "what"),
    [
        ("const a = 1\n", "1:12", "expected ';' after declaration"),
        ("pub fn f(", "1:10", "expected"),
        ("const a = 'ab\x01';\n", "1:14", "character literal contains invalid byte: '\\x01'"),
        ('const a = "open;\n', "1:17", "string literal contains invalid byte: '\\n'"),
        ("\tconst a = $;\n", "1:12", "expected expression, found 'invalid token'"),
    ],
)
def test_declarations_syntax_error_is_zigs_own(reader: Reader, tmp_path: Path, text: str, place: str, what: str) -> None:
    path = tmp_path / "triton.zig"
    path.write_text(text)
    first, *_, count = reader.refusal("declarations", path)
    assert first.startswith(f"{path}:{place}: error: {what}"), first
    assert count == "1 error"


def test_declarations_syntax_error_comes_with_its_note(reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / "triton.zig"
    path.write_text("const S = struct {\n    a: u8,\n    fn f() void {}\n    b: u8,\n};\n")
    first, second, third, count = reader.refusal("declarations", path)
    assert first.startswith(f"{path}:3:5: error: declarations are not allowed between container fields")
    assert second == f"{path}:2:5: note: field before declarations here"
    assert third == f"{path}:4:5: note: field after declarations here"
    assert count == "1 error"


def test_declarations_shows_the_path_as_given(reader: Reader, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/triton.zig").write_text("const a = @import(\"broken.zig\");\n")
    (tmp_path / "src/broken.zig").write_text("fn\n")
    first, _ = reader.refusal("declarations", "./src/triton.zig", folder=tmp_path)
    assert first.startswith("./src/broken.zig:"), first


def test_declarations_every_broken_file_is_named_in_one_run(reader: Reader, tmp_path: Path) -> None:
    (tmp_path / "triton.zig").write_text('const a = @import("gone.zig");\nconst b = @import("broken.zig");\nconst c = @import("sub");\n')
    (tmp_path / "broken.zig").write_text("fn\n")
    first, second, count = reader.refusal("declarations", "triton.zig", folder=tmp_path)
    assert first.startswith("triton.zig:1:11: error: cannot read the sibling gone.zig: there is no such file; expected")
    assert second.startswith("broken.zig:1:3: error: expected '('")
    assert count == "2 errors"


def test_declarations_missing_sibling_in_a_test_does_not_matter(reader: Reader, tmp_path: Path) -> None:
    text = within_tri(LAUNCH) + 'test {\n    _ = @import("gone.zig");\n}\n'
    assert len(launches_of(reader, tmp_path, text)) == 1


def test_declarations_embedded_file_that_the_text_does_not_name_is_refused(reader: Reader, tmp_path: Path) -> None:
    (tmp_path / "triton.zig").write_text(within_tri(LAUNCH) + 'const other = @import("other.zig");\ntest {\n    _ = @embedFile("tes" ++ "ted");\n}\n')
    (tmp_path / "other.zig").write_text('const a = @embedFile("ex" ++ "tra.txt");\nconst b = .{@embedFile(name)};\nconst c = @embedFile("\\xff");\n')
    *refused, count = reader.refusal("declarations", "triton.zig", folder=tmp_path)
    what = "the path of @embedFile is no literal of UTF-8 text, so that an edit of that file would not capture anew; write the path as a literal"
    assert refused == [f"other.zig:{place}: error: {what}" for place in ("1:22", "2:24", "3:22")]
    assert count == "3 errors"


@pytest.mark.parametrize("text", ["", "const a = 1;\n", f"test {{\n    {LAUNCH}\n}}\n", "fn f() void {\n    graph.run();\n}\n"])
def test_declarations_without_launches_says_so(reader: Reader, tmp_path: Path, text: str) -> None:
    path = tmp_path / "triton.zig"
    path.write_text(text)
    first, count = reader.refusal("declarations", path)
    assert first.startswith(f"{path}: error: no launch in this file or its siblings; expected calls such as t.run(")
    assert count == "1 error"


@pytest.mark.parametrize("subcommand", ["declarations", "profile"])
def test_unreadable_file_is_named(reader: Reader, tmp_path: Path, subcommand: str) -> None:
    assert reader.refusal(subcommand, "gone", folder=tmp_path)[0].startswith("gone: error: there is no such file; expected")
    assert reader.refusal(subcommand, ".", folder=tmp_path)[0].startswith(".: error: it is a folder; expected")
    (tmp_path / "large").write_bytes(b"/" * ((1 << 20) + 1))
    assert reader.refusal(subcommand, "large", folder=tmp_path)[0].startswith("large: error: it has more than 1048576 bytes; expected")
    (tmp_path / "latin").write_bytes(b"// \xfc\n")
    assert reader.refusal(subcommand, "latin", folder=tmp_path)[0].startswith("latin:1:4: error: the file is not UTF-8; expected")


def test_declarations_largest_file_is_read(reader: Reader, tmp_path: Path) -> None:
    text = within_tri(LAUNCH)
    text += "/" * ((1 << 20) - len(text))
    assert len(launches_of(reader, tmp_path, text)) == 1


@pytest.mark.parametrize(
    "repeated", ["(", "[", ".{", "!", "-", "&", "?", "*", "try ", "if (a) ", "fn () ", "f(", "struct { a: ", "[]", "a: ", "a!", "for (a) |b| "]
)
def test_deep_nesting_is_refused_not_followed(reader: Reader, tmp_path: Path, repeated: str) -> None:
    path = tmp_path / "deep"
    path.write_text("const a = " + repeated * 50_000)
    assert "nested too deep; expected at most 1000 levels" in reader.refusal("declarations", path)[0]
    path.write_text("const a = " + repeated * 200)
    assert "nested too deep" not in reader.refusal("declarations", path)[0]


def test_declarations_long_but_flat_file_is_no_deep_one(reader: Reader, tmp_path: Path) -> None:
    statements = "if (n > 0) { f(-n); } else if (n == 0) { g(&n); }\n        for (list) |x| { try h(x); }\n" * 400
    assert len(launches_of(reader, tmp_path, within_tri(statements + LAUNCH))) == 1


def test_declarations_number_of_files_is_bounded(reader: Reader, tmp_path: Path) -> None:
    for index in range(257):
        (tmp_path / f"f{index}.zig").write_text(f'const next = @import("f{index + 1}.zig");\n')
    first, count = reader.refusal("declarations", "f0.zig", folder=tmp_path)
    assert first.startswith("f255.zig:1:14: error: this import is one file too many; expected at most 256 files")
    assert count == "1 error"


def test_declarations_number_of_launches_is_bounded(reader: Reader, tmp_path: Path) -> None:
    assert len(launches_of(reader, tmp_path, within_tri(LAUNCH * 4096))) == 4096
    (tmp_path / "triton.zig").write_text(within_tri(LAUNCH * 4097))
    assert "one launch too many; expected at most 4096" in reader.refusal("declarations", tmp_path / "triton.zig")[0]


def test_declarations_answer_is_bounded(reader: Reader, tmp_path: Path) -> None:
    launch = 't.set.run(0, "_k", .{ 1, 1, 1 }, &list, &list);'
    (tmp_path / "triton.zig").write_text(f"const list = .{{{'x,' * 20_000}}};\n" + within_tri(launch * 100))
    first, count = reader.refusal("declarations", tmp_path / "triton.zig")
    assert "the launches up to here repeat too much text; expected at most 67108864 bytes" in first
    assert count == "1 error"


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ([], "a subcommand is missing"),
        (["launches"], "there is no subcommand launches"),
        (["declarations"], "declarations takes one file, not 0"),
        (["profile", "a", "b"], "profile takes one file, not 2"),
        (["profile", ""], "the name of the file is empty"),
        (["coverage-test"], "coverage-test needs --declarations"),
        (["coverage-test", "--parallels", "1"], "coverage-test has no option --parallels"),
        (["coverage-test", "--parallel"], "--parallel lacks its value"),
        (["coverage-test", "--parallel", "1", "--parallel", "2"], "--parallel is given twice"),
    ],
)
def test_usage_error_says_what_is_wrong(reader: Reader, arguments: list[str], what: str) -> None:
    first, count = reader.refusal(*arguments)
    assert first.startswith(f"build-capture-reader: error: {what}; expected"), first
    assert count == "1 error"


def test_help_and_version(reader: Reader) -> None:
    assert all(word in reader.good("--help") for word in ("declarations FILE", "profile FILE", "coverage-test", "--version"))
    assert reader.good("--version").startswith("build-capture-reader 0.1.0 (Zig 0.")
