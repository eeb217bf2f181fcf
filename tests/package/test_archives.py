"""Every way in which a package's file is damaged or hostile is refused, and nothing is written outside of a temporary folder."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from build_capture.package import members
from build_capture.package.verify import verify
from tests.package.archives import ARCHIVES, Hostile
from tests.package.debs import DEBS
from tests.package.harness import refusal, sample_package
from tests.package.wheels import WHEELS

TABLES = {"tar.zst": ARCHIVES, "wheel": WHEELS, "deb": DEBS}
CASES = [pytest.param(format_, case, id=f"{format_}: {case.name}") for format_, cases in TABLES.items() for case in cases]


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The sample in each format."""
    return {format_: sample_package(tmp_path_factory.mktemp(format_), format_) for format_ in TABLES}


@pytest.mark.parametrize("format_", TABLES)
def test_verify_passes_what_is_whole(packages: dict[str, Path], format_: str) -> None:
    (verified,) = verify(packages[format_]).sets
    assert (verified.target, verified.cubins, verified.packaged) == ("sm_121", 3, True)


@pytest.mark.parametrize(("format_", "case"), CASES)
def test_verify_refuses(packages: dict[str, Path], format_: str, case: Hostile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "package" / packages[format_].name
    file.parent.mkdir()
    file.write_bytes(case.apply(packages[format_].read_bytes()))
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    for name, limit in case.limits.items():
        monkeypatch.setattr(members, name, limit)
    assert case.message in refusal(file)
    assert sorted(tmp_path.iterdir()) == [file.parent, temporary] and not list(temporary.iterdir()) and list(file.parent.iterdir()) == [file]
