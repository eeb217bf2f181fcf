"""The samples of the documentation are a project that captures, and its lists are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from build_capture.cli import COMMANDS
from build_capture.pipeline.plan import Request, plan
from build_capture.read.profile import FIELDS
from build_capture.zig import offered_names
from tests.end_to_end.conftest import zig_executable

ROOT = Path(__file__).resolve().parents[2]


def text(name: str) -> str:
    """A page of the documentation."""
    return (ROOT / name).read_text(encoding="utf-8")


def block(name: str, language: str) -> str:
    """The first code block of that language on a page."""
    found = re.search(rf"^```{language}\n(.*?)^```", text(name), re.DOTALL | re.MULTILINE)
    assert found, f"{name} has no block of {language}"
    return found[1]


def classes_of_samples(folder: Path, profile: str, **more: str) -> list[str]:
    """The classes of what the samples' project needs, with this profile and these further files of src/."""
    files = {
        "src/triton.zig": block("docs/declarations.md", "zig"),
        "kernels/scale.py": block("docs/declarations.md", "python"),
        "capture.zon": profile,
    }
    for name, content in (files | {f"src/{name}.zig": content for name, content in more.items()}).items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    planned = plan(Request(folder / "capture.zon", None, None, target=None, zig=zig_executable("0.16"), reader=None, cache=folder / "cache"))
    return sorted(need.classes for need in planned.needs)


def test_samples_are_a_project_with_three_needs(tmp_path: Path) -> None:
    assert classes_of_samples(tmp_path, block("docs/profile.md", "zig")) == ["ROWS=any", "ROWS=div16", "ROWS=one"]


def test_sample_of_rounds_drives_the_same_project(tmp_path: Path) -> None:
    profile = block("docs/profile.md", "zig").replace("// .rounds =", ".rounds =")
    start = profile.index("    .domains = .{")
    profile = profile[:start] + profile[profile.index("    },", start) + len("    },\n") :]
    # A packed table of 4, 8, 12 or 16 rows' words is aligned; one row is never packed.
    want = ["ROWS=any", "ROWS=div16", "ROWS=one", "X=unaligned ROWS=any"]
    assert classes_of_samples(tmp_path, profile, rounds=block("docs/rounds.md", "zig")) == want


def test_profile_page_has_every_field() -> None:
    whole = block("docs/profile.md", "zig")
    assert len(FIELDS) > 10
    assert [name for name in FIELDS if not re.search(rf"^    (// )?\.{name} = ", whole, re.MULTILINE)] == []


@pytest.mark.parametrize("owner", ["cuda", "aot", "aot.Set", "aot.Probe", "cuda.Stream", "cuda.Event"])
def test_declarations_page_has_every_name_of_the_stand_in(owner: str) -> None:
    offered = offered_names(owner)
    assert len(offered) >= 1
    page = text("docs/declarations.md")
    table = page[page.index("## What the stand-in offers") : page.index("## What else")]
    assert [name for name in offered if not re.search(rf"[`.( ]{name}[`(,]|\.{name}\b", table)] == []


def test_zig_build_page_has_every_option_and_step() -> None:
    build = ROOT / "zig_bridge" / "build"
    options = set(re.findall(r'"((?:capture|parallel|window-rows)[a-z-]*)",', text("zig_bridge/build/Options.zig")))
    steps = {name for path in build.glob("*.zig") for name in re.findall(r'\bb\.step\("([a-z-]+)"', path.read_text(encoding="utf-8"))}
    page = text("docs/zig-build.md")
    assert len(options) == 11 and {f"-D{name}" for name in options} == set(re.findall(r"^\| `(-D[a-z-]+)", page, re.MULTILINE))
    assert len(steps) >= 5 and steps <= set(re.findall(r"^\| `([a-z-]+)` \|", page, re.MULTILINE))


def test_readme_names_every_command() -> None:
    assert sorted(re.findall(r"^\| `build-capture ([a-z]+)", text("README.md"), re.MULTILINE)) == sorted(COMMANDS)


def test_pages_link_to_files_that_are_there() -> None:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    links = [(page, link) for page in pages for link in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")) if "://" not in link]
    assert len(links) > 30
    assert [f"{page.name}: {link}" for page, link in links if not (page.parent / link).exists()] == []
