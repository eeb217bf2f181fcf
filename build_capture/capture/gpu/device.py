"""Which GPU is at hand, and what is missing to launch on it. Asked of a process of its own, which starts CUDA."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import shutil
import sys
import sysconfig
import tempfile
from pathlib import Path

import msgspec

from build_capture.errors import CaptureError, Exit
from build_capture.process import closed_environment, own_module, run_tool
from build_capture.targets import Target, parse_target

NATIVE = "native"
"""As a target: the GPU at hand."""

CUDA_VARIABLES = ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "TRITON_LIBCUDA_PATH", "CC", "CPATH", "C_INCLUDE_PATH")
"""What a process that launches sees of the user's environment beside what every compile sees: which GPU there is, and the
driver and the C compiler that Triton builds its launcher with. None of them changes a cubin."""

_NO_DEVICE = 100
_CAPABILITY_MAJOR, _CAPABILITY_MINOR = 75, 76
"""CUDA_ERROR_NO_DEVICE, and attributes of a device (cuda.h)."""


class Device(msgspec.Struct, frozen=True):
    """The first GPU that CUDA shows."""

    name: str = ""
    """As its driver calls it; empty where there is none."""
    capability: int = 0
    """10 * major + minor; 0 where there is none."""
    lacks: str = ""
    """What keeps Triton from launching here, in a few words; empty where nothing does."""


def gpu_environment(private: Path, **variables: str) -> dict[str, str]:
    """The closed environment of a compile, and what CUDA needs."""
    kept = {name: os.environ[name] for name in CUDA_VARIABLES if name in os.environ}
    return closed_environment(private, TRITON_DISABLE_LINE_INFO="1", **kept, **variables)


def find_device(*, to_launch: bool) -> Device:
    """The GPU at hand. `to_launch` also asks whether torch and a C compiler are there, which takes seconds."""
    with tempfile.TemporaryDirectory() as private:
        folder = Path(private)
        # Through a file: a driver or torch may print.
        answer = folder / "device.json"
        command = [*own_module("build_capture.capture.gpu.device"), answer, *(["launch"] if to_launch else [])]
        run_tool(command, what="looking for a GPU", environment=gpu_environment(folder), code=Exit.TOOL, folder=folder)
        return msgspec.json.decode(answer.read_bytes(), type=Device)


def resolve_target(text: str) -> Target:
    """The target that `text` names; `native` is the GPU at hand. Raises a `CaptureError` where there is none (`Exit.TOOL`)."""
    if text != NATIVE:
        return parse_target(text)
    device = find_device(to_launch=False)
    if not device.capability:
        raise CaptureError(f"target native is the GPU at hand, and there is none: {device.lacks}", mend="name a target, such as sm_121", code=Exit.TOOL)
    return parse_target(f"sm_{device.capability}")


def look(to_launch: bool) -> Device:
    """What this process finds."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return Device(lacks="no CUDA driver (libcuda.so.1 cannot be loaded)")
    status = cuda.cuInit(0)
    count = ctypes.c_int()
    if status == _NO_DEVICE or (status == 0 and (cuda.cuDeviceGetCount(ctypes.byref(count)) != 0 or count.value == 0)):
        return Device(lacks="no GPU (the CUDA driver shows none)")
    if status != 0:
        return Device(lacks=f"no GPU (the CUDA driver does not start: error {status})")
    handle, name = ctypes.c_int(), ctypes.create_string_buffer(256)
    major, minor = ctypes.c_int(), ctypes.c_int()
    cuda.cuDeviceGet(ctypes.byref(handle), 0)
    cuda.cuDeviceGetName(name, len(name), handle)
    cuda.cuDeviceGetAttribute(ctypes.byref(major), _CAPABILITY_MAJOR, handle)
    cuda.cuDeviceGetAttribute(ctypes.byref(minor), _CAPABILITY_MINOR, handle)
    return Device(name.value.decode(errors="replace"), 10 * major.value + minor.value, _missing_to_launch() if to_launch else "")


def _missing_to_launch() -> str:
    if importlib.util.find_spec("torch") is None:
        return f"no torch in {sys.executable}"
    import torch

    if not torch.cuda.is_available():
        return f"torch {torch.__version__} cannot use CUDA{'' if torch.version.cuda else ' (it is built for the CPU)'}"
    if not any(map(shutil.which, filter(None, (os.environ.get("CC"), "gcc", "clang")))):
        return "no C compiler (Triton builds its launcher with gcc, clang or CC)"
    if not (Path(sysconfig.get_paths()["include"]) / "Python.h").is_file():
        return f"no Python.h of {sys.executable} (Triton builds its launcher against it)"
    return ""


if __name__ == "__main__":
    Path(sys.argv[1]).write_bytes(msgspec.json.encode(look(to_launch=sys.argv[2:] == ["launch"])))
