"""Packages with random changes: each is refused as damage, or still holds the very set that was packaged."""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from build_capture.errors import CaptureError, Exit
from build_capture.package.ar import read_ar, write_ar
from build_capture.package.verify import verify
from tests.package.archives import compress, decompress
from tests.package.harness import sample_package

CENTRAL_DIRECTORY = b"PK\x01\x02"
TELLING = b"\x00\xff\x80/.07"
"""Bytes that mean something in names, numbers and paddings."""


def changed(data: bytes, source: random.Random) -> bytes:
    """A few bytes set, removed or repeated."""
    changes = bytearray(data)
    for _ in range(source.choice([1, 1, 2, 4, 16])):
        at = source.randrange(len(changes))
        kind = source.randrange(4)
        if kind == 0:
            changes[at] = source.randrange(256)
        elif kind == 1:
            changes[at] = source.choice(TELLING)
        elif kind == 2:
            del changes[at : at + source.choice([1, 2, 8, 512])]
        else:
            changes[at:at] = changes[at : at + source.choice([1, 30, 512])]
    return bytes(changes)


def changed_archive(data: bytes, source: random.Random) -> bytes:
    """The archive, or the tar in it: a changed frame would be refused before its tar is looked at."""
    return compress(changed(decompress(data), source), level=1) if source.random() < 0.7 else changed(data, source)


def changed_wheel(data: bytes, source: random.Random) -> bytes:
    """The wheel, or its directory."""
    at = data.index(CENTRAL_DIRECTORY) if source.random() < 0.5 else 0
    return data[:at] + changed(data[at:], source)


def changed_deb(data: bytes, source: random.Random) -> bytes:
    """The .deb, or one of its archives."""
    if source.random() < 0.3:
        return changed(data, source)
    members = read_ar(data, "")
    name = source.choice(["control.tar.zst", "data.tar.zst"])
    return write_ar(members | {name: changed_archive(members[name], source)}, 0)


FORMATS: dict[str, Callable[[bytes, random.Random], bytes]] = {"tar.zst": changed_archive, "wheel": changed_wheel, "deb": changed_deb}


@pytest.mark.parametrize("rounds", [pytest.param(50, id="few"), pytest.param(2000, id="many", marks=pytest.mark.full)])
@pytest.mark.parametrize("format_", FORMATS)
def test_a_changed_package_is_refused_or_holds_the_same_set(format_: str, rounds: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = sample_package(tmp_path, format_)
    whole, digest = file.read_bytes(), verify(file).sets[0].digest
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    source = random.Random(rounds)
    outcomes: Counter[str] = Counter()
    for _ in range(rounds):
        file.write_bytes(FORMATS[format_](whole, source))
        try:
            assert [one.digest for one in verify(file).sets] == [digest]
            outcomes["the same set"] += 1
        except CaptureError as error:
            assert error.code == Exit.NOT_COVERED, error
            outcomes["refused"] += 1
        assert not list(temporary.iterdir())
    assert outcomes["refused"] > rounds // 2 and sum(outcomes.values()) == rounds
