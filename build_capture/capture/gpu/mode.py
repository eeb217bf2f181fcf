"""How variants are made: compiled for a target that need not be present, or also launched on the GPU at hand."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from build_capture.capture.gpu.device import Device, find_device
from build_capture.errors import CaptureError, Exit
from build_capture.targets import Target

EXAMPLES = "examples.py"
"""The module in the kernels' folder that makes real tensors for a need (docs/examples.md)."""


class Mode(msgspec.Struct, frozen=True):
    """How this capture makes its variants."""

    name: Literal["compile", "gpu"]
    why: str
    """Why `auto` took it; empty where the user asked for it."""
    device: str = ""
    """The GPU that launches, by its driver's name."""


def look_for_device(asked: str) -> Device | None:
    """The GPU at hand where `asked` has a use for one. Raises a `CaptureError` where `gpu` lacks something (`Exit.TOOL`)."""
    if asked == "compile":
        return None
    device = find_device(to_launch=True)
    if asked == "gpu" and device.lacks:
        raise CaptureError(f"cannot launch on a GPU: {device.lacks}", mend="use --mode compile, which needs no GPU", code=Exit.TOOL)
    return device


def choose_mode(asked: str, device: Device | None, target: Target, kernels: Path, *, values: bool = False) -> Mode:
    """The mode for `target`, given what `look_for_device` found.

    Raises a `CaptureError` where `gpu` was asked for and cannot be, or `values` of launches were, and nothing can be launched.
    """
    if device is None:
        return Mode("compile", "")
    reason, mend, code = device.lacks, "", Exit.TOOL
    if not reason and device.capability != target.capability:
        reason = f"the GPU at hand, {device.name}, is sm_{device.capability} and the target {target.name}"
        mend = f"use --target native, or --mode compile for {target.name}"
    elif not reason and not (kernels / EXAMPLES).is_file():
        reason = f"{kernels.name} has no {EXAMPLES}, so that nothing would be launched"
        mend, code = "see docs/examples.md, or use --mode compile", Exit.INPUT
    if not reason:
        return Mode("gpu", f"{device.name} ({target.name}) is at hand" if asked == "auto" else "", device.name)
    if asked == "gpu" or values:
        raise CaptureError(f"cannot launch on a GPU: {reason}", mend=mend, code=code)
    return Mode("compile", reason)
