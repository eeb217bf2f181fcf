"""All that this project asks of Triton: the one module that changes with a Triton release.

It runs in a process of its own (see `worker`), in a closed environment, for a target that need not be present.
Only public steps are used: the active driver, `warmup`, and what the compiled kernel says of itself.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import os
import sys
import sysconfig
from pathlib import Path
from typing import Any

import triton
from triton.backends.compiler import GPUTarget
from triton.runtime.jit import JITFunction, MockTensor

from build_capture.pointees import POINTEES

WARP_SIZE = 32
"""Threads of a warp on every CUDA target."""

FP_FUSION = True
"""Pinned, since Triton 3.10 changes the default: the same source gives the same code across versions."""


class AbsentDriver:
    """Stands in for the driver of a GPU that is not there."""

    def __init__(self, capability: int) -> None:
        self.target = GPUTarget("cuda", capability, WARP_SIZE)

    def get_current_target(self) -> GPUTarget:
        """The target that is compiled for."""
        return self.target

    def get_current_device(self) -> int:
        """A device number; nothing is launched on it."""
        return 0

    def get_current_stream(self, device: int | None = None) -> int:
        """A stream number; nothing is launched on it."""
        return 0

    def set_current_device(self, device: int) -> None:
        """There is no device to switch to."""

    def get_active_torch_device(self) -> Any:
        """There is none: compiling needs no torch."""
        raise RuntimeError("compiling for an absent target has no torch device")

    def is_active(self) -> bool:
        """Whether Triton may use this driver."""
        return True


class NoTorch(importlib.abc.MetaPathFinder):
    """Hides torch from imports that are still to come.

    Triton's binder imports torch where it is installed, only to know its tensors: a second for each variant, and none
    is passed here. A kernel module that itself imports torch has done so before, and keeps it.
    """

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> None:
        """Refuse torch as if it were not installed; leave all else to the finders after this one."""
        if fullname == "torch":
            raise ModuleNotFoundError("compiling needs no torch", name=fullname)


class Pointer(MockTensor):
    """A pointer argument of a given alignment."""

    def __init__(self, dtype: Any, aligned: bool) -> None:
        super().__init__(dtype)
        self.address = 16 if aligned else 4

    def data_ptr(self) -> int:
        """An address of the alignment that is compiled for."""
        return self.address


CLASS_VALUES = {
    "i32": {"one": 1, "div16": 16, "any": 3},
    "u64": {"div16": 1 << 63, "any": (1 << 63) + 1},
}
"""A value of each class, by type: u64 values past 2^63, since Triton types a smaller one as a signed int."""


def import_kernels(path: Path, folder: Path) -> Any:
    """Import the kernel module at `path`, as part of its package where its folder is one.

    `folder` is the kernels' own folder; a package is followed upwards from there.
    """
    root, names = path.parent, [path.stem]
    while (root / "__init__.py").is_file():
        names.insert(0, root.name)
        root = root.parent
    sys.path.insert(0, str(root))
    if folder != root:
        sys.path.insert(1, str(folder))
    if len(names) > 1:
        return importlib.import_module(".".join(names))
    # By its file, not by its name, which Python's own library may have as well; that one keeps the name then.
    name = path.stem if path.stem not in sys.modules else f"kernels_in_{path.stem}"
    specification = importlib.util.spec_from_file_location(name, path)
    assert specification is not None and specification.loader is not None, "a Python file has a loader"
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module
    specification.loader.exec_module(module)
    return module


def imported_sources(folder: Path) -> list[Path]:
    """The Python files that imports have brought in so far and that are neither Python's nor an installed package's."""
    return sorted({path for _, path in _source_modules(folder)})


def forget_sources(folder: Path) -> None:
    """Let the next import run those modules anew, or find others of the same names."""
    for name, _ in _source_modules(folder):
        del sys.modules[name]


def _source_modules(folder: Path) -> list[tuple[str, Path]]:
    installed = [Path(sysconfig.get_paths()[name]).resolve() for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    installed += [Path(triton.__file__).resolve().parent, Path(__file__).resolve().parent.parent]
    found = []
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if not file or not file.endswith(".py") or not os.path.isabs(file):
            continue
        path = Path(file).resolve()
        if path.is_relative_to(folder) or not any(path.is_relative_to(root) for root in installed):
            found.append((name, path))
    return found


def compile_variant(kernel: JITFunction, arguments: dict[str, Any], options: dict[str, int], capability: int) -> Any:
    """Compile `kernel` for sm_<capability> through the JIT's own binder, specialization and option parsing.

    `arguments` holds every parameter by name: a `Pointer`, a value, or a constexpr's value.
    Returns Triton's compiled kernel; raises what Triton raises.
    """
    triton.runtime.driver.set_active(AbsentDriver(capability))
    sys.meta_path.insert(0, NoTorch())
    return kernel.warmup(grid=(1,), enable_fp_fusion=FP_FUSION, **arguments, **options)


def argument_of(type_name: str, class_name: str | None) -> Any:
    """A value that Triton specializes as `type_name` of class `class_name`; planning has refused what it does not know."""
    if type_name.startswith("*"):
        return Pointer(getattr(triton.language, POINTEES[type_name[1:]]), class_name == "aligned")
    if type_name == "fp32":
        return 0.5
    if type_name in CLASS_VALUES and class_name is not None:
        return CLASS_VALUES[type_name][class_name]
    raise ValueError(f"an argument of type {type_name} is not known")


def globals_read(kernel: JITFunction) -> dict[str, Any]:
    """The module-level constants that a compiled kernel and what it calls read, by module and name: Triton keys its cache by them."""
    return {f"{scope['__name__']}.{name}": value for (name, _), (value, scope) in kernel.used_global_vals.items()}


def specialization(compiled: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """What Triton compiled for: the runtime parameters in order (name, type, div16), and the constants by name."""
    source = compiled.src
    names = list(source.signature)
    constants = {names[path[0]]: value for path, value in source.constants.items() if len(path) == 1}
    parameters = [
        {"name": name, "type": kind, "div16": ["tt.divisibility", 16] in source.attrs.get((index,), [])}
        for index, (name, kind) in enumerate(source.signature.items())
        if kind != "constexpr"
    ]
    return parameters, constants
