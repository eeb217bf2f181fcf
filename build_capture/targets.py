"""The one table of targets: what a CUDA compute capability allows."""

from __future__ import annotations

import re

import msgspec

from build_capture.errors import CaptureError, nearest


class Target(msgspec.Struct, frozen=True):
    """A GPU to compile for."""

    capability: int
    """10 * major + minor, as Triton counts: 121 is sm_121."""
    shared_bytes_max: int
    """Shared memory that one block may opt in to, in bytes (CUDA C++ Programming Guide, technical specifications
    per compute capability: the maximum for a multiprocessor less 1 KiB that the system keeps)."""

    ptx: str
    """The first version of PTX that knows it (PTX ISA, release notes)."""
    cuda: str
    """The first CUDA whose ptxas reads that PTX (PTX ISA, release notes)."""

    @property
    def architecture(self) -> str:
        """As ptxas calls it, and as Triton compiles for it: with the features of that very GPU from sm_90 on."""
        return f"sm_{self.capability}{'a' if self.capability >= 90 else ''}"

    @property
    def name(self) -> str:
        """As users write it: `sm_121`."""
        return f"sm_{self.capability}"

    @property
    def folder(self) -> str:
        """As engines look for it: `sm121`."""
        return f"sm{self.capability}"


_KIB = 1024

TARGETS = {
    capability: Target(capability, shared * _KIB, ptx, cuda)
    for capability, (shared, ptx, cuda) in {
        80: (163, "7.0", "11.0"),
        86: (99, "7.1", "11.1"),
        87: (163, "7.4", "11.4"),
        89: (99, "7.8", "11.8"),
        90: (227, "8.0", "12.0"),
        100: (227, "8.6", "12.7"),
        103: (227, "8.8", "12.9"),
        110: (227, "9.0", "13.0"),
        120: (99, "8.7", "12.8"),
        121: (99, "8.8", "12.9"),
    }.items()
}


def parse_target(text: str) -> Target:
    """The target that `text` names (`sm_121`). Raises a `CaptureError` that lists the known ones."""
    match = re.fullmatch(r"sm_?(\d{2,3})", text)
    if match and int(match[1]) in TARGETS:
        return TARGETS[int(match[1])]
    raise CaptureError(f"unknown target {text!r}", mend=nearest(text, (target.name for target in TARGETS.values())))
