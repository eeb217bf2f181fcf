"""The program `verify-set`, without an engine's rounds, compiled by the Zig of each release."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
ZIG_VARIABLES = ("BUILD_CAPTURE_ZIG_0_16", "BUILD_CAPTURE_ZIG_0_17")
"""Where `make test` says which Zig is which."""


@dataclass(frozen=True)
class Verifier:
    """The program."""

    program: Path

    def run(self, *arguments: str | Path, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Run it, in `folder` where one is given."""
        return subprocess.run([self.program, *arguments], cwd=folder, capture_output=True, text=True, timeout=60)

    def good(self, *arguments: str | Path) -> dict[str, Any]:
        """The answer about one set that it must find whole."""
        result = self.run(*arguments, "--json")
        assert result.returncode == 0, result.stderr + result.stdout
        answer = json.loads(result.stdout)
        assert answer["good"] and len(answer["sets"]) == 1
        return dict(answer["sets"][0])

    def refusal(self, *arguments: str | Path, code: int = 3) -> str:
        """What it says of something that it must refuse."""
        result = self.run(*arguments)
        assert (result.returncode, result.stdout) == (code, ""), result.stderr + result.stdout
        assert "verify/" not in result.stderr, "a stack trace"
        return result.stderr


@pytest.fixture(scope="session", params=ZIG_VARIABLES)
def verifier(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Verifier:
    """The program. Without a Zig the test fails: a skip would look like a pass."""
    zig = os.environ.get(request.param)
    if not zig:
        pytest.fail(f"{request.param} is not set; expected the path of that Zig; try `make test`", pytrace=False)
    folder = tmp_path_factory.mktemp("verifier")
    modules = ["--dep", "verify", "--dep", "consumer", "-Mroot=verify/main.zig", "--dep", "set", "-Mverify=verify/verify.zig"]
    modules += ["-Mset=set/set.zig", "-Mconsumer=verify/no_consumer.zig"]
    command = [zig, "build-exe", *modules, f"-femit-bin={folder}/verify-set", "--cache-dir", f"{folder}/cache"]
    result = subprocess.run(command, cwd=ROOT / "zig_bridge", capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    return Verifier(folder / "verify-set")
