"""Identifies the tools that turn a kernel into a cubin."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import triton
from triton.backends.nvidia.compiler import get_ptxas

from build_capture.capture.ptxas import ptxas_version
from build_capture.capture.records import Toolchain
from build_capture.files import sha256_of_file


def toolchain_for(capability: int) -> tuple[Toolchain, str]:
    """The toolchain that serves sm_<capability>, and the path of its assembler."""
    given = os.environ.get("TRITON_PTXAS_PATH", "")
    # Triton's own choice: which targets its `ptxas-blackwell` is for changed with 3.9.
    tool = get_ptxas(capability)
    toolchain = Toolchain(
        triton=triton.__version__,
        ptxas=ptxas_version(Path(tool.path)),
        ptxas_sha256=sha256_of_file(Path(tool.path)),
        ptxas_given=tool.path == given,
        python=platform.python_version(),
    )
    return toolchain, str(Path(tool.path).resolve())


def toolchain_files(assembler: str) -> list[str]:
    """The files that an upgrade of the toolchain changes."""
    return [str(Path(triton.__file__).resolve()), assembler]
