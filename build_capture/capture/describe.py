"""Describes a family's kernels, in the worker process: importing their modules runs the user's code."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path
from typing import Any

from build_capture.capture.find import kernel_modules, kernels_of, modules_defining
from build_capture.capture.records import Description, Kernel, KernelParameter
from build_capture.errors import CaptureError, Place, nearest, raise_all
from build_capture.plan.needs import Constant

OPTION_NAMES = ("num_warps", "num_stages")
"""The launch options that a set's variants are told apart by."""


def describe(folder: Path, capability: int, functions: list[str]) -> Description:
    """Describe those of `functions` that the modules of `folder` define. Raises, all at once, whatever keeps one from it."""
    from build_capture.capture.toolchain import toolchain_files, toolchain_for

    kernels: list[Kernel] = []
    errors: list[CaptureError] = []
    for path, names in modules_defining(folder, functions).items():
        try:
            kernels += _describe_module(path, folder, names)
        except CaptureError as error:
            errors.append(error)
    raise_all(errors)
    toolchain, assembler = toolchain_for(capability)
    return Description(sorted(kernels, key=lambda kernel: kernel.function), toolchain, assembler, toolchain_files(assembler))


def _describe_module(path: Path, folder: Path, names: list[str]) -> list[Kernel]:
    """Describe the kernels of one module, and forget what it imported: another's helper may have the same name."""
    from build_capture.capture.triton_steps import forget_sources, import_kernels

    search = list(sys.path)
    try:
        module = import_kernels(path, folder)
        options = _launch_options(module, path, folder)
        return [_describe_kernel(module, path, folder, name, options.get(name, {})) for name in names]
    except CaptureError:
        raise
    except (Exception, SystemExit) as error:
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).is_relative_to(folder)]
        place = Place(frames[-1].filename, frames[-1].lineno or 0) if frames else Place(str(path))
        raise CaptureError(
            f"importing this kernel module fails: {type(error).__name__}: {error}", where=place, mend="make it importable on its own"
        ) from error
    finally:
        sys.path[:] = search
        forget_sources(folder)


def _launch_options(module: Any, path: Path, folder: Path) -> dict[str, dict[str, int]]:
    """The module's LAUNCH_OPTIONS, checked: an option that is not understood would be left out of a capture unnoticed."""
    options = getattr(module, "LAUNCH_OPTIONS", {})
    form = 'write LAUNCH_OPTIONS = {"_kernel": {"num_warps": 4, "num_stages": 2}}'
    if not isinstance(options, dict) or not all(isinstance(each, dict) for each in options.values()):
        raise CaptureError("LAUNCH_OPTIONS is no dictionary of dictionaries", where=Place(str(path)), mend=form)
    # Several modules may share one dictionary.
    defined = {name for other in kernel_modules(folder) for name in kernels_of(other)}
    place = Place(str(path))
    for function, each in options.items():
        if function not in defined:
            raise CaptureError(f"LAUNCH_OPTIONS names {function}, which no module here defines", where=place, mend=nearest(str(function), defined))
        for name, value in each.items():
            if name not in OPTION_NAMES:
                raise CaptureError(f"LAUNCH_OPTIONS of {function} has {name}", where=place, mend=nearest(str(name), OPTION_NAMES))
            if type(value) is not int or value < 1:
                raise CaptureError(f"LAUNCH_OPTIONS of {function}: {name} is {value!r}", where=place, mend=form)
    return options


def _describe_kernel(module: Any, path: Path, folder: Path, name: str, options: dict[str, int]) -> Kernel:
    from build_capture.capture.triton_steps import JITFunction

    kernel = getattr(module, name)
    if not isinstance(kernel, JITFunction):
        raise CaptureError(
            f"{name} is an {type(kernel).__name__}",
            where=Place(str(path), kernels_of(path)[name]),
            mend="expected a plain @triton.jit function: a captured set holds what was chosen, not a choice",
        )
    parameters = [
        KernelParameter(
            name=parameter.name,
            constexpr=parameter.is_constexpr,
            has_default=parameter.has_default,
            default=Constant.of(plain(parameter.default)) if parameter.has_default else None,
            unspecialized=parameter.do_not_specialize,
            unhinted=parameter.do_not_specialize_on_alignment,
            annotation=parameter.annotation,
            typed=parameter.annotation_type,
        )
        for parameter in kernel.params
    ]
    return Kernel(name, path.relative_to(folder).as_posix(), kernel.starting_line_number, parameters, dict(options))


def plain(value: Any) -> Any:
    """A `tl.constexpr` stands for the value that it holds."""
    while type(value).__name__ == "constexpr":
        value = value.value
    return value
