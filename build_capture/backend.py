"""A PEP 517 build backend: scikit-build-core's, with a captured set put into each wheel.

    [build-system]
    requires = ["build-capture[backend]"]
    build-backend = "build_capture.backend"

    [tool.build-capture]
    profile = "capture.zon"

What else `[tool.build-capture]` may say is in `build_capture.package.backend_options`. Where the set is installed, the entry point
of the family's name in the group `build_capture.sets` tells.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scikit_build_core import build as wrapped

from build_capture.errors import CaptureError
from build_capture.package.backend_options import read_options
from build_capture.package.backend_sets import captured_files, entry_point
from build_capture.package.extend_wheel import add_entry_point, extend_wheel

Settings = dict[str, Any] | None

build_sdist = wrapped.build_sdist
get_requires_for_build_sdist = wrapped.get_requires_for_build_sdist


def build_wheel(wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None) -> str:
    """Build the wheel and capture its sets; returns the wheel's file name."""
    return _with_sets(wrapped.build_wheel, wheel_directory, config_settings)


def build_editable(wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None) -> str:
    """Build the wheel of an editable install. Its sets are captured once, when it is installed."""
    return _with_sets(wrapped.build_editable, wheel_directory, config_settings)


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: Settings = None) -> str:
    """Write the wheel's metadata, with the entry point of the sets; nothing is captured."""
    return _with_entry_point(wrapped.prepare_metadata_for_build_wheel, metadata_directory, config_settings)


def prepare_metadata_for_build_editable(metadata_directory: str, config_settings: Settings = None) -> str:
    """The same for an editable install."""
    return _with_entry_point(wrapped.prepare_metadata_for_build_editable, metadata_directory, config_settings)


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    """What scikit-build-core needs, and a Zig where there is none."""
    return _requires(wrapped.get_requires_for_build_wheel, config_settings)


def get_requires_for_build_editable(config_settings: Settings = None) -> list[str]:
    """The same for an editable install."""
    return _requires(wrapped.get_requires_for_build_editable, config_settings)


def _with_sets(hook: Any, wheel_directory: str, config_settings: Settings) -> str:
    with _stopping():
        options, rest = read_options(Path.cwd(), config_settings)
        # The capture comes first: it is what can fail for the user, and a failure must leave no wheel.
        files = captured_files(options)
        # It would want the metadata that was prepared to be its own, and those have the sets' entry point too.
        name: str = hook(wheel_directory, rest, None)
        extend_wheel(Path(wheel_directory) / name, files, entry_point(options))
        return name


def _with_entry_point(hook: Any, metadata_directory: str, config_settings: Settings) -> str:
    with _stopping():
        options, rest = read_options(Path.cwd(), config_settings)
        name: str = hook(metadata_directory, rest)
        file = Path(metadata_directory) / name / "entry_points.txt"
        file.write_text(add_entry_point(file.read_text(encoding="utf-8") if file.is_file() else "", entry_point(options)), encoding="utf-8")
        return name


def _requires(hook: Any, config_settings: Settings) -> list[str]:
    with _stopping():
        options, rest = read_options(Path.cwd(), config_settings)
        zig = [] if options.zig or shutil.which("zig") else ["ziglang>=0.16"]
        return [*hook(rest), *zig]


@contextmanager
def _stopping() -> Iterator[None]:
    """End as the command line does: the message alone, and its exit code. A traceback is for faults of ours."""
    try:
        yield
    except CaptureError as error:
        print(error, file=sys.stderr)
        raise SystemExit(int(error.code)) from None
