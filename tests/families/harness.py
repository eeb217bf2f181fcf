"""Runs the planning on a family, as `build-capture needs` does, and edits copies of families."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from build_capture.pipeline.plan import Planned, Request, plan

HERE = Path(__file__).resolve().parent
FAMILIES = ("generations", "mixed", "mla", "moe", "multi", "wide")


@dataclass(frozen=True)
class Family:
    """A family in a folder that a test may edit."""

    folder: Path
    zig: str
    cache: Path
    """Shared by all tests of a session, so that the reader is compiled once."""

    def plan(self, parallel: int | None = None, window_rows: int | None = None) -> Planned:
        """What `build-capture needs` works out."""
        request = Request(self.folder / "capture.zon", parallel, window_rows, target=None, zig=self.zig, reader=None, cache=self.cache)
        return plan(request)

    def needs(self, parallel: int | None = None, window_rows: int | None = None) -> list[str]:
        """The identities of its needs, sorted."""
        return sorted(need.identity for need in self.plan(parallel, window_rows).needs)

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace `old`, which must be there once, in a file."""
        path = self.folder / name
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{old!r} is {text.count(old)} times in {name}"
        path.write_text(text.replace(old, new), encoding="utf-8")


def expected(name: str) -> list[str]:
    """The needs of a family as they were written out by hand, sorted."""
    return sorted((HERE / name / "expected_needs.txt").read_text(encoding="utf-8").splitlines())


def copy_of(name: str, folder: Path, zig: str, cache: Path) -> Family:
    """A copy of the family `name` in `folder`."""
    shutil.copytree(HERE / name, folder / name)
    return Family(folder / name, zig, cache)
