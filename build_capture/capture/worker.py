"""The worker process: describes a family's kernels, or compiles one variant. Started by the capture, not by users.

    python build_capture --module build_capture.capture.worker describe FOLDER CAPABILITY ANSWER FUNCTION...   a `Description` in ANSWER
    python build_capture --module build_capture.capture.worker compile REQUEST RESULT                          RESULT and its cubin, or RESULT.error
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

import msgspec

from build_capture.capture.describe import describe, plain
from build_capture.capture.policy.widths import access_widths
from build_capture.capture.records import Request, Result, ResultParameter
from build_capture.errors import CaptureError
from build_capture.files import sha256_of_bytes, sha256_of_file, write_if_changed
from build_capture.plan.needs import Constant
from build_capture.process import SPOKEN


def compile_request(request: Request) -> tuple[Result, bytes]:
    """Compile one variant; raises what the kernel's module or Triton raises."""
    from build_capture.capture.triton_steps import (
        WARP_SIZE,
        argument_of,
        compile_variant,
        globals_read,
        import_kernels,
        imported_sources,
        specialization,
    )

    started = time.monotonic()
    need, folder = request.need, Path(request.folder)
    read = watch_reads(folder)
    kernel = getattr(import_kernels(folder / request.module, folder), need.function)
    arguments = {p.name: argument_of(p.type, p.class_.value if p.class_ else None) for p in need.parameters}
    arguments |= {name: constant.python for name, constant in need.constexprs.items()}
    options = {"num_warps": need.options.num_warps, "num_stages": need.options.num_stages}
    compiled = compile_variant(kernel, arguments, options, request.capability)
    metadata = compiled.metadata
    parameters, constants = specialization(compiled)
    cubin = compiled.asm["cubin"]
    result = Result(
        fn=need.function,
        hash=metadata.hash,
        name=metadata.name,
        num_warps=metadata.num_warps,
        num_stages=metadata.num_stages,
        num_ctas=metadata.num_ctas,
        warp_size=WARP_SIZE,
        shared=metadata.shared,
        global_scratch=metadata.global_scratch_size,
        global_align=metadata.global_scratch_align,
        profile_scratch=metadata.profile_scratch_size,
        pdl=metadata.launch_pdl,
        params=[ResultParameter(**parameter) for parameter in parameters],
        constants={name: _constant(name, plain(value), need.constexprs) for name, value in constants.items()},
        cubin_sha256=sha256_of_bytes(cubin),
        sources={Path(os.path.relpath(path, folder)).as_posix(): sha256_of_file(path) for path in sorted({*imported_sources(folder), *read})},
        seconds=time.monotonic() - started,
        globals={name: _show_global(value) for name, value in sorted(globals_read(kernel).items())},
        widths=access_widths(compiled.asm["ptx"]),
    )
    return result, cubin


def watch_reads(folder: Path) -> set[Path]:
    """The files below `folder` that are opened from now on: a kernel may take numbers from a file that it does not import."""
    read: set[Path] = set()

    def note(event: str, arguments: tuple[object, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str) and not arguments[0].endswith(".pyc"):
            path = Path(os.path.abspath(arguments[0]))
            if path.is_relative_to(folder) and path.is_file():
                read.add(path)

    sys.addaudithook(note)
    return read


def _constant(name: str, value: Any, asked: dict[str, Constant]) -> Constant:
    """A constant as Triton gives it back, with the kind that was asked for where the value is the same."""
    constant = Constant.of(value)
    if name in asked and asked[name].python == value and type(asked[name].python) is type(value):
        return asked[name]
    if constant is None:
        raise CaptureError(f"constexpr {name} is a {type(value).__name__}, which a set cannot hold")
    return constant


def _show_global(value: Any) -> str:
    """A module-level constant as a set records it: its kind and value, or the kind alone of what has no text that is the same everywhere."""
    held = plain(value)
    shown = f":{held}" if type(held).__name__ in ("int", "float", "bool", "str", "NoneType", "dtype") else ""
    return f"{type(held).__name__}{shown}"


def main(arguments: list[str]) -> int:
    """Do what the command line says; a failure goes to RESULT.error, never to standard output."""
    if arguments[0] == "describe":
        folder, capability, answer, *functions = arguments[1:]
        try:
            description = describe(Path(folder), int(capability), functions)
        except CaptureError as error:
            print(error, file=sys.stderr)
            return SPOKEN
        Path(answer).write_bytes(msgspec.json.encode(description))
        return 0
    request_path, result_path = Path(arguments[1]), Path(arguments[2])
    request = msgspec.json.decode(request_path.read_bytes(), type=Request)
    error_path = result_path.with_suffix(".error")
    error_path.unlink(missing_ok=True)
    try:
        # A cache of its own, gone afterwards: nothing that an earlier capture left is taken for this one's.
        with tempfile.TemporaryDirectory(dir=result_path.parent) as cache:
            os.environ["TRITON_CACHE_DIR"] = cache
            result, cubin = compile_request(request)
    except (Exception, SystemExit) as error:
        # The message alone: Triton's names the kernel's line, and the stack is Triton's own.
        error_path.write_text("".join(traceback.format_exception_only(type(error), error)))
        return 1
    write_if_changed(result_path.with_suffix(".cubin"), cubin)
    write_if_changed(result_path, msgspec.json.encode(result))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
