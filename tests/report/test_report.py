"""The report: which entry serves which round, what is missing, and the page, picture and tables that show it."""

from __future__ import annotations

import os
import re
import shutil
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from build_capture.cli import cli
from build_capture.errors import CaptureError
from build_capture.pipeline.plan import Request, plan
from build_capture.plan.needs import Constant, Need, Span
from build_capture.read.profile import DEFAULT_PROFILE, Limits
from build_capture.sets.apart import tell_apart
from build_capture.sets.limits import show_limits
from build_capture.sets.model import CapturedSet
from build_capture.sets.read import ReadSet
from build_capture.sets.report.data import Report, make_report
from build_capture.sets.report.grid import Cell, FunctionGrid, Lane, Run, Served, grids, rows_of
from build_capture.sets.report.make import make, write
from build_capture.sets.report.page import page
from build_capture.sets.report.picture import LANES_MAX, cell_text, lanes_of, picture
from build_capture.sets.row_ranges import show_rows
from tests.sets.entries import entry, param

NEED = {
    "function": "_f",
    "parameters": [],
    "constexprs": {},
    "options": {"num_warps": 4, "num_stages": 3},
    "launches": 1,
    "witness": {"kind": "decode", "streams": 1, "rows": 1, "windows": [1], "layout": {}, "grid": None, "values": []},
}


@pytest.fixture(scope="module")
def report(captured: Path, planning: dict[str, Any]) -> Report:
    """Of the whole set."""
    return make(captured, "exact", None, Request(**planning))


def generic_attend(kernel: dict[str, Any]) -> bool:
    """Whether an entry serves W of any class: of 2 to 4 rows, and an aligned table."""
    return kernel["fn"] == "_mixed_attend" and any(p["name"] == "W" for p in kernel["params"]) and all(p["div16"] for p in kernel["params"] if p["name"] == "TABLE")


def serving(report: Report, function: str, streams: int, rows: int) -> list[str]:
    """What serves a round, by the report's grid."""
    (grid,) = (grid for grid in report.grids if grid.function == function)
    (lane,) = (lane for lane in grid.lanes if lane.streams == streams)
    (run,) = (run for run in lane.runs if run.first <= rows <= run.last)
    return [report.entries[number].hints for number in grid.cells[run.cell].entries]


def test_grid_says_which_entry_serves_each_round(report: Report) -> None:
    # The table lies 4 * W bytes behind an aligned address.
    assert serving(report, "_mixed_attend", 1, 1) == ["TABLE=unaligned W=1"]
    assert serving(report, "_mixed_attend", 1, 2) == ["TABLE=unaligned W=any"]
    assert serving(report, "_mixed_attend", 2, 3) == ["TABLE=unaligned W=any"]
    assert serving(report, "_mixed_attend", 2, 4) == ["W=any"]
    assert (report.missing, report.general, len(report.entries), report.family) == (0, 0, 8, "mixed")
    (norm,) = (grid for grid in report.grids if grid.function == "_mixed_norm")
    assert len(norm.outside) == 4 and all(got.kind == "exact" for got in norm.outside)


def test_entries_tell_what_their_cubins_cost(report: Report) -> None:
    assert all(entry.bytes and entry.bytes > 1000 and entry.registers and entry.local_bytes == 0 for entry in report.entries)
    assert [entry.needs for entry in report.entries] == [1] * 8


def test_missing_entry_is_shown_in_every_form(without: Callable[..., Path], captured: Path, planning: dict[str, Any]) -> None:
    lacking = make(without(generic_attend), "exact", captured, Request(**planning))
    assert lacking.missing == 1
    text = page(lacking)
    assert "1 of 8 needs has no variant" in text and 'See <a href="#_mixed_attend">_mixed_attend</a>.' in text
    assert text.count('<section id="_mixed_attend" class="lacks">') == 1 and text.count('class="lacks"') == 1 and ": MISSING: W=any" in text
    assert any("only there: _mixed_attend" in change for change in lacking.changes) and "only there: _mixed_attend" in text
    drawing = picture(lacking)
    assert 'class="missing">4 rows: MISSING: W=any<' in drawing and drawing.count('fill="url(#missing)"') == 2


def test_report_of_a_set_for_another_target_is_refused(captured: Path, planning: dict[str, Any]) -> None:
    with pytest.raises(CaptureError, match="have sm121, need sm90"):
        make(captured, "exact", None, Request(**planning | {"target": "sm_90"}))


def test_fallback_is_told_apart_from_what_was_captured(without: Callable[..., Path], planning: dict[str, Any]) -> None:
    folder = without(generic_attend)
    assert make(folder, "exact", None, Request(**planning)).missing == 1
    general = make(folder, "fallback", None, Request(**planning))
    assert (general.missing, general.general) == (0, 1)
    assert "served only by code that assumes less" in page(general) and "fallback for W=any" in page(general)


def need(rows: str, **constexprs: Any) -> Need:
    """A need of `_f` with W of that class."""
    constants = {name: msgspec.to_builtins(Constant.of(value)) for name, value in constexprs.items()}
    return msgspec.convert(NEED | {"parameters": [{"name": "W", "type": "i32", "class": rows}], "constexprs": constants}, Need)


def test_constexpr_is_shown_where_needs_ask_for_another(report: Report) -> None:
    kernels = [entry(param("W"), consts={"BLOCK": 8, "SCALE": 0.1, "FLAG": 1, "MASK": None})]
    asked = {"SCALE": 0.1, "FLAG": True, "MASK": None, "D": 64}
    texts = [one.text for one in tell_apart(kernels, [need("any", BLOCK=8, **asked), need("any", BLOCK=16, **asked), need("one", BLOCK=8, **asked)])]
    assert texts == ["W=any BLOCK=8", "W=any BLOCK=8", "W=any BLOCK=16", "W=1 BLOCK=8"]
    assert [one.text for one in tell_apart(kernels, [need("any", BLOCK=8, **asked)])] == ["W=any", "W=any"]
    assert [one.text for one in tell_apart([entry(param("W"))], [need("any", BLOCK=8), need("any", BLOCK=16)])] == [
        *("W=any BLOCK=absent", "W=any BLOCK=8", "W=any BLOCK=16")
    ]
    lacking = msgspec.structs.replace(report, need_texts=texts[1:])
    assert cell_text(lacking, Cell((Served(1, "missing", None), Served(0, "fallback", None)))) == "MISSING: W=any BLOCK=16 + fallback for W=any BLOCK=8"


@pytest.mark.parametrize(("limits", "text"), [
    (Limits(1, 1, 0), "1 stream, 1 row a window"), (Limits(16, 4, 512), "16 streams, 4 rows a window, prompts in chunks of 512 rows"),
])  # fmt: skip
def test_show_limits(report: Report, limits: Limits, text: str) -> None:
    assert show_limits(limits) == text and f"<dd>{text}</dd>" in page(msgspec.structs.replace(report, limits=limits))


class Page(HTMLParser):
    """What a browser would fetch, and the tags that stay open."""

    VOID = ("meta", "link", "img", "br", "input")

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.fetched += [str(value) for name, value in attributes if name in ("src", "href", "srcset", "action")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.fetched += [str(value) for name, value in attributes if name in ("src", "href")]

    def handle_endtag(self, tag: str) -> None:
        while self.open.pop() not in (tag,):
            assert self.open, tag


def test_page_needs_no_other_file(report: Report) -> None:
    parsed = Page()
    parsed.feed(page(report))
    assert parsed.fetched == [] and "@import" not in page(report)
    assert not re.findall(r"url\((?!#missing\))", page(report))
    assert "prefers-color-scheme: dark" in page(report) and 'name="viewport"' in page(report)


def test_page_shows_names_as_text(report: Report) -> None:
    hostile = msgspec.structs.replace(report, family="<script>alert(1)</script>", notes=["<b>"])
    assert "<script>alert" not in page(hostile) and "<b>" not in page(hostile) and "<script>alert" not in picture(hostile)


def test_picture_is_valid_and_covers_every_round(report: Report) -> None:
    root = ElementTree.fromstring(picture(report))
    lanes = [group for group in root.iter("{http://www.w3.org/2000/svg}g") if "data-streams" in group.attrib]
    assert [lane.get("data-streams") for lane in lanes] == ["1", "2"] * 2


def test_forms_are_written_and_told(captured: Path, planning: dict[str, Any], tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a b/r.html", "r.svg")]
    paths[0].parent.mkdir()
    options = ["--profile", planning["profile"], "--zig", planning["zig"], "--cache-dir", planning["cache"], "--out", paths[0], "--svg", paths[1]]
    result = CliRunner().invoke(cli, ["report", str(captured), *map(str, options)])
    assert result.exit_code == 0, result.output
    assert "8 needs: 0 missing" in result.output and f"wrote {paths[0]}" in result.output
    assert all(path.stat().st_size > 1000 for path in paths)


def test_without_a_profile_the_entries_alone_are_shown(
    captured: Path, planning: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    report = make(captured, "exact", None, Request(**{**planning, "profile": DEFAULT_PROFILE}))
    assert report.grids == [] and len(report.entries) == 8
    assert "No profile was given" in page(report)
    # Nothing is judged, but what is no longer what was captured is told.
    shutil.copytree(captured, tmp_path / "set")
    cubin = min((tmp_path / "set/cubins").iterdir())
    cubin.write_bytes(cubin.read_bytes()[:-1] + b"\xff")
    damaged = CliRunner().invoke(cli, ["report", "set"])
    assert damaged.exit_code == 0 and f"cubins/{cubin.name}: its bytes are not those that aot.json records for _" in damaged.output, damaged.output
    with pytest.raises(CaptureError, match="there are no rounds to draw"):
        write(report, page=None, svg=tmp_path / "r.svg", png=None)
    with pytest.raises(CaptureError, match="there is no such file"):
        make(captured, "exact", None, Request(**{**planning, "profile": tmp_path / "capture.zon"}))


def test_many_lanes_are_thinned_and_keep_the_first_and_the_last() -> None:
    cell = Cell((Served(0, "exact", 0),))
    grid = FunctionGrid("_f", [cell], [Lane("decode", streams, [Run(streams, streams, 0)]) for streams in range(1, 1001)], [])
    lanes = lanes_of(grid, "decode")
    assert (len(lanes), lanes[0].streams, lanes[-1].streams) == (LANES_MAX, 1, 1000)
    assert rows_of(grid, "decode") == {0: [(1, 1000)]} and rows_of(grid, "prompt") == {}


def test_report_takes_time_that_grows_with_the_entries_alone(tmp_path: Path) -> None:
    count = 2000
    kernels = [entry(param("X", "*bf16", "div16"), param("W"), hash=f"{number:064x}", consts={"BM": number, "D": 64}) for number in range(count)]
    needs = [msgspec.convert(NEED | {"spans": [Span("decode", 1, 16 * number + 1, 16 * number + 15)]}, Need) for number in range(count)]
    (tmp_path / "aot.json").write_text("{}")
    read = ReadSet(tmp_path, tmp_path / "aot.json", CapturedSet({}, "sm_121", "exact", {}, kernels), False, (), "cubins", "cubin")
    started = time.process_time()
    (grid,) = grids(needs, [Served(number, "exact", number) for number in range(count)])
    whole = msgspec.structs.replace(make_report(read, None, "exact"), limits=Limits(1, 1, 0), needs=needs, grids=[grid])
    assert [one.constants for one in whole.entries[:2]] == ["BM=0", "BM=1"] and whole.entries[0].hints == "W=any"
    assert rows_of(grid, "decode")[7] == [(113, 127)] and "113..127" in page(whole) and "113..127" in picture(whole)
    # It took a minute when each entry looked at all others, and each cell at all runs.
    assert time.process_time() - started < 10


@pytest.mark.parametrize(("ranges", "text"), [
    ([], ""), ([(1, 1)], "1 row"), ([(2, 15), (17, 31)], "2..15, 17..31 rows"), ([(n, n) for n in range(1, 20, 2)], "1, 3, 5, 7, …, 19 rows"),
    ([(n, n) for n in range(1, 12, 2)], "1, 3, 5, 7, 9, 11 rows"),
])  # fmt: skip
def test_show_rows(ranges: list[tuple[int, int]], text: str) -> None:
    assert show_rows(ranges) == text


def test_spans_of_the_probe_are_the_rounds_that_ask(report: Report, planning: dict[str, Any]) -> None:
    needs = {need.identity: need for need in plan(Request(**planning), spans=True).needs}
    (aligned,) = (need for identity, need in needs.items() if identity.startswith("_mixed_attend") and "TABLE: *i32 aligned" in identity)
    assert aligned.spans == [Span("decode", 2, 4, 4)]
    assert all(need.spans == [] for need in report.needs)


def test_forms_replace_neither_the_set_nor_a_device_nor_each_other(report: Report, captured: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)  # It stands for devices, which a test had better not try to replace.
    cases = [
        ({"page": captured / "aot.json", "svg": None}, "this lies in the folder of the set"),
        ({"page": pipe, "svg": None}, "this is no regular file"),
        ({"page": tmp_path, "svg": None}, "this is no regular file"),
        ({"page": tmp_path / "r", "svg": tmp_path / "r"}, "two forms of the report would be written here"),
        ({"page": None, "svg": tmp_path / "absent/x/r.svg"}, f"there is no folder {tmp_path}/absent/x"),
    ]
    before = (captured / "aot.json").read_bytes()
    for forms, message in cases:
        with pytest.raises(CaptureError, match=message) as caught:
            write(report, png=None, **forms)
        assert caught.value.code == 2
    assert (captured / "aot.json").read_bytes() == before and list(tmp_path.iterdir()) == [pipe] and pipe.is_fifo()


def test_names_are_shown_with_their_brackets(captured: Path, planning: dict[str, Any], tmp_path: Path) -> None:
    page_path = tmp_path / "[red]x" / "r.html"
    page_path.parent.mkdir()
    options = ["--profile", str(planning["profile"]), "--zig", planning["zig"], "--cache-dir", str(planning["cache"]), "--out", str(page_path)]
    assert f"wrote {page_path}" in CliRunner().invoke(cli, ["report", str(captured), *options]).output


def test_png_without_its_package_says_what_to_install(report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(CaptureError, match="a PNG needs the package resvg-py") as caught:
        write(report, page=None, svg=None, png=tmp_path / "r.png")
    assert caught.value.code == 4 and not list(tmp_path.iterdir())
