"""A broken input is read or refused, never a crash."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.read.mutations import mutations
from tests.read.reader import FIXTURES, Reader

@pytest.mark.parametrize("count", [100, pytest.param(2000, marks=pytest.mark.full)])
@pytest.mark.parametrize(("subcommand", "name"), [("declarations", "forms/triton.zig"), ("profile", "capture.zon")])
def test_mutants_are_read_or_refused(reader: Reader, tmp_path: Path, subcommand: str, name: str, count: int) -> None:
    shutil.copytree(FIXTURES, tmp_path / "fixtures")
    path = tmp_path / "fixtures" / name
    codes = []
    for mutant in mutations((FIXTURES / name).read_bytes(), count, seed=20261129):
        path.write_bytes(mutant)
        answer = reader.run(subcommand, path)
        codes.append(answer.code)
        if answer.code == 0:
            assert json.loads(answer.output) and not answer.errors
        else:
            assert answer.code == 2, (answer.errors[-2000:], mutant)
            assert not answer.output
            assert answer.errors.splitlines()[-1].endswith(("1 error", " errors")), answer.errors
            assert ": error: " in answer.errors
    assert len(codes) == count
    # Neither outcome is the only one: the mutants reach beyond the first parse error.
    assert 0 < codes.count(0) < count
