"""Packages the sample, unpacks it, and tells how `verify` refuses something."""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
import zstandard

from build_capture.errors import CaptureError, Exit
from build_capture.package.make import (
    UNKNOWN_MAINTAINER,
    Packaged,
    PackageRequest,
    package,
)
from build_capture.package.verify import verify
from tests.package.sample import write_sample

ROOT = Path(__file__).resolve().parents[2]

SET = "share/sample/cuda/sm121"
"""Where the sample's set lies below a prefix."""


def make(out: Path, *sets: Path, **changes: Any) -> Packaged:
    """Package sets in every format."""
    fields = {"formats": ("tar.zst", "wheel", "deb"), "app": None, "release": "1.2", "licence": None, "maintainer": UNKNOWN_MAINTAINER, "section": "misc"}
    return package(PackageRequest(sets=sets, out=out, **(fields | changes)))


def sample_package(folder: Path, format_: str) -> Path:
    """The sample, packaged in one format."""
    (file,) = make(folder / "packages", write_sample(folder / "set"), formats=(format_,)).files
    return Path(file)


def unpacked_sample(folder: Path) -> Path:
    """The folder of the sample's set as its archive unpacks it."""
    return unpacked(sample_package(folder, "tar.zst"), folder)


def unpacked(archive_file: Path, folder: Path) -> Path:
    """The folder of the set in an archive of the sample."""
    data = zstandard.ZstdDecompressor().decompress(archive_file.read_bytes())
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        archive.extractall(folder / "prefix", **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    return folder / "prefix" / SET


def refusal(path: Path, **options: Any) -> str:
    """What `verify` says of something that it must refuse with exit 3."""
    with pytest.raises(CaptureError) as caught:
        verify(path, **options)
    assert caught.value.code == Exit.NOT_COVERED, caught.value
    return str(caught.value)


def command(*arguments: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run `build-capture verify`."""
    return subprocess.run([sys.executable, ROOT / "build_capture", "verify", *arguments], cwd=folder, capture_output=True, text=True, check=False)
