"""Identifies the tools that turn a kernel into a cubin."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path

import triton
from triton import knobs

from build_capture.capture.records import Toolchain
from build_capture.files import sha256_of_file
from build_capture.process import run_tool

BLACKWELL = 100
"""The first capability that Triton assembles with `ptxas-blackwell`."""


def toolchain_for(capability: int) -> tuple[Toolchain, list[str]]:
    """The toolchain that serves sm_<capability>, and the files that an upgrade of it changes."""
    given = os.environ.get("TRITON_PTXAS_PATH", "")
    tool = knobs.nvidia.ptxas_blackwell if capability >= BLACKWELL else knobs.nvidia.ptxas
    printed = run_tool([tool.path, "--version"], what="asking ptxas for its version")
    build = re.search(r"V[\d.]+", printed)
    toolchain = Toolchain(
        triton=triton.__version__,
        ptxas=build[0].removeprefix("V") if build else tool.version,
        ptxas_sha256=sha256_of_file(Path(tool.path)),
        ptxas_given=tool.path == given,
        python=platform.python_version(),
    )
    return toolchain, [str(Path(triton.__file__).resolve()), str(Path(tool.path).resolve())]
