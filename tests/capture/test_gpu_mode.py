"""Which mode a capture takes, and what is said where something lacks to launch on a GPU."""

from __future__ import annotations

import os
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from build_capture.capture.gpu import device as device_module
from build_capture.capture.gpu import mode as mode_module
from build_capture.capture.gpu.device import Device, resolve_target
from build_capture.capture.gpu.mode import choose_mode, look_for_device
from build_capture.errors import CaptureError, Exit
from build_capture.targets import parse_target
from tests.capture.conftest import Family

ROOT = Path(__file__).resolve().parents[2]


class Cuda:
    """A CUDA driver that is made up: it starts with a status and shows so many GPUs of sm_90."""

    def __init__(self, status: int = 0, count: int = 1) -> None:
        self.status, self.count = status, count

    def cuInit(self, flags: int) -> int:
        """Start."""
        return self.status

    def cuDeviceGetCount(self, count: Any) -> int:
        """How many GPUs there are."""
        count._obj.value = self.count
        return 0

    def cuDeviceGet(self, device: Any, place: int) -> int:
        """The first GPU."""
        device._obj.value = 0
        return 0

    def cuDeviceGetName(self, name: Any, most: int, device: Any) -> int:
        """What the driver calls it."""
        name.value = b"NVIDIA H200"
        return 0

    def cuDeviceGetAttribute(self, value: Any, attribute: int, device: Any) -> int:
        """75 is the major, 76 the minor part of the capability."""
        value._obj.value = {75: 9, 76: 0}[attribute]
        return 0


@pytest.mark.parametrize(
    ("cuda", "want"),
    [
        (Cuda(), Device("NVIDIA H200", 90)),
        (Cuda(count=0), Device(lacks="no GPU (the CUDA driver shows none)")),
        (Cuda(status=100), Device(lacks="no GPU (the CUDA driver shows none)")),
        (Cuda(status=999), Device(lacks="no GPU (the CUDA driver does not start: error 999)")),
    ],
)
def test_look_tells_what_the_driver_shows(monkeypatch: pytest.MonkeyPatch, cuda: Cuda, want: Device) -> None:
    monkeypatch.setattr(device_module.ctypes, "CDLL", lambda name: cuda)
    assert device_module.look(to_launch=False) == want


def test_look_tells_what_lacks_to_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_module.ctypes, "CDLL", lambda name: Cuda())
    version = types.SimpleNamespace(cuda=None)
    torch = types.SimpleNamespace(__version__="9", version=version, cuda=types.SimpleNamespace(is_available=lambda: version.cuda))
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setattr(device_module.importlib.util, "find_spec", lambda name: None)
    assert device_module.look(to_launch=True).lacks == f"no torch in {sys.executable}"
    monkeypatch.setattr(device_module.importlib.util, "find_spec", lambda name: torch)
    assert device_module.look(to_launch=True).lacks == "torch 9 cannot use CUDA (it is built for the CPU)"
    version.cuda = "13.0"
    monkeypatch.setattr(device_module.shutil, "which", lambda name: None)
    assert device_module.look(to_launch=True).lacks == "no C compiler (Triton builds its launcher with gcc, clang or CC)"
    monkeypatch.setattr(device_module.shutil, "which", lambda name: name)
    monkeypatch.setattr(device_module.sysconfig, "get_paths", lambda: {"include": "/nonexistent"})
    assert device_module.look(to_launch=True).lacks.startswith("no Python.h of ")


def test_native_is_the_gpu_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_module, "find_device", lambda to_launch: H200)
    assert resolve_target("native").name == "sm_90"
    assert resolve_target("sm_121").name == "sm_121"
    monkeypatch.setattr(device_module, "find_device", lambda to_launch: Device(lacks="no CUDA driver"))
    with pytest.raises(CaptureError, match="target native is the GPU at hand, and there is none: no CUDA driver") as raised:
        resolve_target("native")
    assert raised.value.code == Exit.TOOL


H200 = Device("NVIDIA H200", 90)


def choose(asked: str, device: Device, target: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> mode_module.Mode:
    """The mode that a capture takes."""
    monkeypatch.setattr(mode_module, "find_device", lambda to_launch: device)
    return choose_mode(asked, look_for_device(asked), parse_target(target), folder)


def test_mode_auto_takes_the_gpu_of_the_target(family: Family, monkeypatch: pytest.MonkeyPatch) -> None:
    (family.folder / "examples.py").write_text("")
    taken = choose("auto", H200, "sm_90", family.folder, monkeypatch)
    assert (taken.name, taken.why, taken.device) == ("gpu", "NVIDIA H200 (sm_90) is at hand", "NVIDIA H200")
    assert choose("gpu", H200, "sm_90", family.folder, monkeypatch).why == ""
    assert choose("compile", H200, "sm_90", family.folder, monkeypatch).name == "compile"


@pytest.mark.parametrize(
    ("device", "target", "examples", "why", "code"),
    [
        (H200, "sm_121", True, "the GPU at hand, NVIDIA H200, is sm_90 and the target sm_121", Exit.TOOL),
        (Device("NVIDIA H200", 90, "no torch in python"), "sm_90", True, "no torch in python", Exit.TOOL),
        (Device(lacks="no GPU (the CUDA driver shows none)"), "sm_90", True, "no GPU (the CUDA driver shows none)", Exit.TOOL),
        (H200, "sm_90", False, "a family has no examples.py, so that nothing would be launched", Exit.INPUT),
    ],
)
def test_mode_says_what_lacks(
    family: Family, monkeypatch: pytest.MonkeyPatch, device: Device, target: str, examples: bool, why: str, code: Exit
) -> None:
    folder = family.folder
    if examples:
        (folder / "examples.py").write_text("")
    taken = choose("auto", device, target, folder, monkeypatch)
    assert (taken.name, taken.why) == ("compile", why)
    with pytest.raises(CaptureError, match="cannot launch on a GPU: ") as raised:
        choose("gpu", device, target, folder, monkeypatch)
    assert why in str(raised.value) and raised.value.code == code
    with pytest.raises(CaptureError, match="cannot launch on a GPU: "):
        choose_mode("auto", device, parse_target(target), folder, values=True)


def command_line(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `build-capture` where CUDA shows no GPU, even if there is one."""
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    command = [sys.executable, str(ROOT / "build_capture"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def test_command_line_without_a_gpu_exits_4_and_says_so() -> None:
    finished = command_line("capture", "--out", "out", "--mode", "gpu", "--profile", "absent.zon")
    assert finished.returncode == Exit.TOOL, finished.stderr
    (line,) = finished.stderr.splitlines()
    assert line.startswith(("error: cannot launch on a GPU: no CUDA driver", "error: cannot launch on a GPU: no GPU"))


def test_command_line_refuses_values_without_launches() -> None:
    finished = command_line("capture", "--out", "out", "--values", "values")
    assert finished.returncode == Exit.INPUT
    assert "--values needs --mode gpu" in finished.stderr


@pytest.mark.parametrize("command", ["check SET", "report SET", "verify SET", "doctor"])
def test_native_is_the_gpu_at_hand_for_every_command(command: str) -> None:
    finished = command_line(*command.split(), "--target", "native")
    assert finished.returncode == Exit.TOOL and "error: target native is the GPU at hand, and there is none" in finished.stderr, finished.stderr
