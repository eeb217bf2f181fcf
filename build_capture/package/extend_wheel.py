"""Adds files and an entry point to a wheel that another backend built."""

from __future__ import annotations

import base64
import configparser
import csv
import hashlib
import io
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path

GROUP = "build_capture.sets"
"""The entry points that tell where captured sets are installed: a family's name -> a function of the target."""

STAMP = (1980, 1, 1, 0, 0, 0)
"""The time of every added file: the first that an archive can hold."""


def extend_wheel(wheel: Path, files: Mapping[str, bytes], entry_point: tuple[str, str]) -> None:
    """Put `files` (by their names in the wheel) and `entry_point` into `wheel`, and renew its RECORD, in one step."""
    fresh = wheel.with_suffix(".new")
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(fresh, "w") as new:
        kept = {entry.filename: entry for entry in old.infolist()}
        (record_name,) = (name for name in kept if name.endswith(".dist-info/RECORD"))
        entry_points = record_name.replace("RECORD", "entry_points.txt")
        before = old.read(entry_points).decode() if entry_points in kept else ""
        added = {**files, entry_points: add_entry_point(before, entry_point).encode()}
        lines = []
        for name, entry in kept.items():
            if name not in added and name != record_name:
                data = old.read(name)
                new.writestr(entry, data)
                lines.append(record_line(name, data))
        for name, data in sorted(added.items()):
            new.writestr(zip_entry(name), data)
            lines.append(record_line(name, data))
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([*lines, (record_name, "", "")])
        new.writestr(zip_entry(record_name), text.getvalue())
    os.replace(fresh, wheel)


def add_entry_point(text: str, entry_point: tuple[str, str]) -> str:
    """The `entry_points.txt` in `text` with one more entry: a name, and `module:function`."""
    parser = configparser.ConfigParser(delimiters=("=",), interpolation=None)
    parser.optionxform = str  # type: ignore[method-assign,assignment]
    parser.read_string(text)
    if not parser.has_section(GROUP):
        parser.add_section(GROUP)
    parser.set(GROUP, *entry_point)
    written = io.StringIO()
    parser.write(written)
    return written.getvalue()


def zip_entry(name: str) -> zipfile.ZipInfo:
    """A file as every wheel of ours holds it: of one time and mode, whatever it was on disk."""
    entry = zipfile.ZipInfo(name, STAMP)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o100644 << 16
    return entry


def record_line(name: str, data: bytes) -> tuple[str, str, str]:
    """A file's line of RECORD (PEP 376)."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return name, f"sha256={digest}", str(len(data))
