"""What Triton says of itself: its version, and the assembler that it takes for each target. Run as a process of its own, since importing it takes a while."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
import triton
from triton.backends.nvidia.compiler import get_ptxas

from build_capture.doctor.assemblers import TritonAnswer
from build_capture.targets import TARGETS

if __name__ == "__main__":
    assemblers = {target.name: get_ptxas(target.capability).path for target in TARGETS.values()}
    Path(sys.argv[1]).write_bytes(msgspec.json.encode(TritonAnswer(triton.__version__, str(Path(triton.__file__).resolve().parent), assemblers)))
