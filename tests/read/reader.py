"""Runs the reader and looks at what it says."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FIXTURES = Path(__file__).parent / "fixtures"
EXPECTED = Path(__file__).parent / "expected"


@dataclass(frozen=True)
class Answer:
    """What a run of the reader printed."""

    code: int
    output: str
    errors: str


@dataclass(frozen=True)
class Reader:
    """The compiled reader."""

    program: Path

    def run(self, *arguments: str | Path, folder: Path | None = None) -> Answer:
        """Run with `arguments` in `folder`."""
        result = subprocess.run([self.program, *arguments], capture_output=True, timeout=60, cwd=folder)
        return Answer(result.returncode, result.stdout.decode(), result.stderr.decode())

    def good(self, *arguments: str | Path, folder: Path | None = None) -> str:
        """The output of a run that must succeed."""
        answer = self.run(*arguments, folder=folder)
        assert answer.code == 0, answer.errors
        assert not answer.errors
        return answer.output

    def read(self, *arguments: str | Path, folder: Path | None = None) -> dict[str, Any]:
        """The JSON of a run that must succeed."""
        return dict(json.loads(self.good(*arguments, folder=folder)))

    def refusal(self, *arguments: str | Path, folder: Path | None = None) -> list[str]:
        """The lines of a run that must refuse its input; nothing may reach the standard output."""
        answer = self.run(*arguments, folder=folder)
        assert answer.code == 2, (answer.code, answer.errors)
        assert answer.output == ""
        return answer.errors.splitlines()


def launches_of(reader: Reader, folder: Path, text: str) -> list[dict[str, Any]]:
    """The launches of a declaration file with the text `text`."""
    path = folder / "triton.zig"
    path.write_text(text)
    return list(reader.read("declarations", path)["launches"])


def within_tri(body: str) -> str:
    """A declaration file whose `Tri` has one method with the body `body`."""
    return (
        'const aot = @import("cuda").aot;\nconst p = aot.ptr;\n'
        "pub const Tri = struct {\n    set: *const aot.Set,\n    pub fn launch(t: Tri, x: u64, n: usize) !void {\n"
        f"        {body}\n    }}\n}};\n"
    )
