"""Writes the first `capture.zon` of a project: what is inferred filled in, the rest to fill."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from build_capture.plan.table import DomainRow
from build_capture.plan.zig_text import zig_name, zig_string

TO_FILL = "// Fill in:"
"""Stands before each line that a person has to complete."""

TEXT = "[]const u8"
"""The type of a parameter that is a text, as Zig names it."""

ALIGNED = "aligned"
"""How the domain of an address begins that nothing is said of: the one thing that is guessed (plan/infer.py)."""

_TEXT = """.{{
    // Names the folder that engines look in: share/{family_plain}/cuda/sm<NN>/.
    .family = {family},
    // Every path is relative to this file.
    .declarations = {declarations},
{rounds}{kernels}
    // Check: the GPU to compile for. -Dcapture-target=... names another.
    .target = {target},
    // Check: streams in a round, rows in one stream's window (1 without drafting), rows in a prompt chunk.
    .limits = .{{ .parallel = 16, .window_rows = 1, .prompt_rows = 0 }},
    // Constants of the model; a parameter of the same name takes them.
    .geometry = .{{}},
    // What the parameters of the methods range over, by name, `method.name` or path: a number, a list, a range, a formula.
    .domains = .{{
{domains}    }},
}}
"""


def profile_text(folder: Path, declarations: Path, rounds: Path | None, kernels: Path | None, target: str, rows: Sequence[DomainRow]) -> str:
    """The text of `capture.zon` in `folder`."""
    family = re.sub(r"[^A-Za-z0-9._-]+", "-", folder.resolve().name).strip("-.") or "family"
    return _TEXT.format(
        family=zig_string(family),
        family_plain=family,
        declarations=_path(declarations, folder),
        rounds=f"    // Drives the rounds with the server's own layout of tables.\n    .rounds = {_path(rounds, folder)},\n" if rounds else "",
        kernels=_kernels(kernels, folder),
        target=zig_string(target),
        domains="".join(f"        {line}\n" for line in _domains(rows)),
    )


def _path(path: Path, folder: Path) -> str:
    return zig_string(Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix())


def _kernels(kernels: Path | None, folder: Path) -> str:
    comment = "    // The folder with the Triton kernels, in Python.\n"
    if kernels is not None:
        return f"{comment}    .kernels = {_path(kernels, folder)},"
    return f'{comment}    {TO_FILL} no module here defines the kernels that are launched.\n    .kernels = "",'


def to_give(rows: Sequence[DomainRow]) -> list[DomainRow]:
    """The parameters that have to be given, each line once: a field of the engine's own struct counts for all its methods."""
    found: dict[str, DomainRow] = {}
    for row in rows:
        if row.source == "missing":
            found.setdefault(row.domain, row)
    return list(found.values())


def _domains(rows: Sequence[DomainRow]) -> Iterator[str]:
    missing = to_give(rows)
    if numbers := [row.parameter.rpartition(".")[2] for row in missing if row.domain and row.type != TEXT]:
        yield f"// A constant of the model belongs into .geometry instead, under its own name: .{zig_name(numbers[0])} = NUMBER,"
    for row in missing:
        yield f"{TO_FILL} {row.method} takes {row.parameter} ({row.type}), {row.file}:{row.line}."
        yield f"// {row.domain}" if row.domain else f"// {row.reason}."
    addresses = [row for row in rows if row.source == "inferred" and row.domain.startswith(ALIGNED)]
    if addresses:
        yield "// Check: taken as aligned to 16 bytes. Where the engine passes another address: .alignment or .row_bytes, or rounds.zig."
    for row in addresses:
        yield f"// {row.method} {row.parameter} ({row.type}){row.domain.removeprefix(ALIGNED)}, {row.file}:{row.line}."
    inferred = [row for row in rows if row.source == "inferred" and row not in addresses]
    if inferred:
        yield "// Inferred; a line here says otherwise."
    for row in inferred:
        yield f"// {row.method} {row.parameter} ({row.type}): {row.domain}, because {row.reason}."
