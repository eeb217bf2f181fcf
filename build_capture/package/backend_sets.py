"""The sets that the build backend puts into a wheel."""

from __future__ import annotations

import tempfile
from pathlib import Path

from rich.console import Console

from build_capture.package.backend_options import BackendOptions
from build_capture.package.folder import verify_folder
from build_capture.package.make import licence_text, packaged_files
from build_capture.package.set_module import set_module, set_path
from build_capture.pipeline.capture import capture
from build_capture.pipeline.plan import Request
from build_capture.sets.read import read_set
from build_capture.targets import parse_target
from build_capture.terminal import compile_progress, summary_line


def entry_point(options: BackendOptions) -> tuple[str, str]:
    """The entry point that tells where the sets are: the module's name, and its function."""
    return str(options.module), f"{options.module}:folder"


def captured_files(options: BackendOptions) -> dict[str, bytes]:
    """Capture a set for each target; returns the files of the wheel's module by their names in the wheel."""
    files: dict[str, bytes] = {}
    console = Console(stderr=True)
    with tempfile.TemporaryDirectory() as folder:
        for number, target in enumerate(options.targets or [None]):
            out = Path(folder) / str(number)
            with compile_progress(console) as progress:
                summary = capture(
                    _request(options, target),
                    out,
                    depfile=None,
                    jobs=options.jobs or None,
                    progress=progress,
                    asked_mode=options.mode,
                    policy=options.policy,
                )
            console.print(summary_line(summary), soft_wrap=True)
            place = f"{options.module}/{set_path(summary.family, parse_target(summary.target).folder)}"
            found = read_set(out)
            packaged = packaged_files(found, verify_folder(out, str(out)), summary.family, licence_text(options.license and Path(options.license)))
            files |= {f"{place}/{name}": data for name, data in packaged.items()}
            files |= {f"{options.module}/{name}": data for name, data in set_module(summary.family).items()}
    return files


def _request(options: BackendOptions, target: str | None) -> Request:
    return Request(
        profile=Path(options.profile),
        parallel=options.parallel,
        window_rows=options.window_rows,
        target=target,
        zig=options.zig,
        reader=None,
        cache=None,
    )
