"""What a consumer's `pyproject.toml`, and `pip` on its command line, say of the capture."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from build_capture.errors import CaptureError, Place, nearest, raise_all
from build_capture.read.profile import LIMITS_MAX

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TABLE = "build-capture"
"""`[tool.build-capture]`, and the prefix of config settings: `-C build-capture.parallel=2`."""


class BackendOptions(msgspec.Struct, frozen=True, rename="kebab", forbid_unknown_fields=True):
    """`[tool.build-capture]`. Each may be given as a config setting too, which comes first; a list then has commas."""

    profile: str = "capture.zon"
    """The family's profile, relative to the project."""
    module: str | None = None
    """The importable package that holds the sets in the wheel. Default: the project's name and `_sets`."""
    targets: list[str] | None = None
    """One set for each. Default: the profile's target."""
    parallel: int | None = None
    """Streams that a round may hold. Default: the profile's."""
    window_rows: int | None = None
    """Rows of a stream's window. Default: the profile's."""
    policy: Literal["exact", "compact", "total"] | None = None
    """As `build-capture capture --policy`."""
    mode: Literal["compile", "gpu", "auto"] = "compile"
    """As `build-capture capture --mode`."""
    jobs: int = 0
    """Compiles at a time; 0: one for each processor."""
    license: str | None = None
    """The file of the licence that the sets are under."""
    zig: str | None = None
    """The Zig compiler. Default: `zig` on PATH, else the `ziglang` package."""


class _Project(msgspec.Struct, frozen=True):
    name: str | None = None


class _Tool(msgspec.Struct, frozen=True, rename="kebab"):
    build_capture: dict[str, Any] = {}


class _Document(msgspec.Struct, frozen=True):
    """What is read of `pyproject.toml`."""

    project: _Project = _Project()
    tool: _Tool = _Tool()


def read_options(project: Path, config_settings: Mapping[str, Any] | None) -> tuple[BackendOptions, dict[str, Any]]:
    """The options for the project in the folder `project`, and the config settings that are scikit-build-core's.

    Raises a `CaptureError` for a `pyproject.toml` that cannot be read, and for an option that is not known or not of its type.
    """
    file = project / "pyproject.toml"
    try:
        document = msgspec.convert(tomllib.loads(file.read_text(encoding="utf-8")), _Document)
    except (OSError, ValueError) as error:
        raise CaptureError(f"it cannot be read: {error}", where=Place(str(file))) from error
    given = dict(document.tool.build_capture)
    rest = {}
    for name, value in (config_settings or {}).items():
        if name.startswith(f"{TABLE}."):
            key = name.removeprefix(f"{TABLE}.")
            given[key] = value.split(",") if key == "targets" and isinstance(value, str) else value
        else:
            rest[name] = value
    fields = {field.encode_name: field.name for field in msgspec.structs.fields(BackendOptions)}
    raise_all([CaptureError(f"unknown option {name!r} of {TABLE}", where=Place(str(file)), mend=nearest(name, fields)) for name in given if name not in fields])
    try:
        # A config setting is text, whatever its type.
        options = msgspec.convert(given, BackendOptions, strict=False)
    except msgspec.ValidationError as error:
        raise CaptureError(f"[tool.{TABLE}]: {error}", where=Place(str(file))) from error
    if options.module is None:
        if document.project.name is None:
            raise CaptureError("[project] has no name for the package of the sets to follow", where=Place(str(file)), mend=f'name it: `module = "my_engine_sets"` below [tool.{TABLE}]')
        options = msgspec.structs.replace(options, module=re.sub(r"\W", "_", document.project.name).lower() + "_sets")
    _refuse(options, file)
    return options, rest


def _refuse(options: BackendOptions, file: Path) -> None:
    problems = []
    if not str(options.module).isidentifier():
        problems.append(f"module {options.module!r} is no name of a Python package")
    for name in ("parallel", "window_rows"):
        value, most = getattr(options, name), LIMITS_MAX[name]
        if value is not None and not 1 <= value <= most:
            problems.append(f"{name.replace('_', '-')} is {value}; expected 1 to {most}")
    if options.targets == []:
        problems.append("targets is empty; expected at least one, such as sm_121")
    raise_all([CaptureError(f"[tool.{TABLE}]: {problem}", where=Place(str(file))) for problem in problems])
