"""What passes between the capture and its worker processes."""

from __future__ import annotations

import msgspec

from build_capture.plan.needs import Constant, Need


class KernelParameter(msgspec.Struct, frozen=True):
    """A parameter of a Triton kernel."""

    name: str
    constexpr: bool
    has_default: bool
    default: Constant | None = None
    """A constexpr's default; null where there is none or a set cannot hold it."""
    unspecialized: bool = False
    """Whether the kernel's decorator names it in `do_not_specialize`."""
    unhinted: bool = False
    """Whether the kernel's decorator names it in `do_not_specialize_on_alignment`."""
    annotation: str = ""
    """As the kernel writes it."""
    typed: str = ""
    """The type that its annotation gives it, whatever is passed; empty where the annotation says none."""


class Kernel(msgspec.Struct, frozen=True):
    """A Triton kernel, as its own module describes it."""

    function: str
    module: str
    """The Python file, relative to the kernels' folder."""
    line: int
    parameters: list[KernelParameter]
    launch_options: dict[str, int]
    """What the module's LAUNCH_OPTIONS says of it; what is absent is Triton's default."""


class Toolchain(msgspec.Struct, frozen=True):
    """What turns a kernel into a cubin, without any path of the machine."""

    triton: str
    """Triton's version."""
    ptxas: str
    """The assembler's version, as it prints it."""
    ptxas_sha256: str
    ptxas_given: bool
    """Whether a user named it; else it is the one that Triton brings."""
    python: str
    """Python's version."""


class Description(msgspec.Struct, frozen=True):
    """What a worker says of the kernels of a family and of its own tools."""

    kernels: list[Kernel]
    toolchain: Toolchain
    assembler: str
    """The ptxas that Triton takes for the target: an absolute path."""
    toolchain_files: list[str]
    """Absolute paths of the files that stand for the toolchain: an upgrade changes one of them."""


class Request(msgspec.Struct, frozen=True):
    """One variant to compile."""

    need: Need
    module: str
    """The Python file, relative to the kernels' folder."""
    folder: str
    """The kernels' folder, absolute."""
    capability: int


class ResultParameter(msgspec.Struct, frozen=True):
    """A runtime parameter of a compiled kernel, in launch order."""

    name: str
    type: str
    div16: bool


class Code(msgspec.Struct, frozen=True):
    """Compiled code and how engines launch it, in the names and the order of `aot.json`."""

    fn: str
    """The Triton function, which launches ask for."""
    hash: str
    """Triton's hash of the compiled kernel; the cubin's file name in a set."""
    name: str
    """The entry symbol."""
    num_warps: int
    """As compiled: what the launch block follows. The compiler may change what was asked for."""
    num_stages: int
    """0 where a set does not record it."""
    num_ctas: int
    warp_size: int
    shared: int
    """Dynamic shared memory, in bytes."""
    global_scratch: int
    """Scratch in bytes; engines provide none."""
    global_align: int
    profile_scratch: int
    pdl: bool


class Result(Code, frozen=True):
    """One compiled variant: all that a set says of it. Its cubin lies beside it."""

    params: list[ResultParameter]
    constants: dict[str, Constant]
    cubin_sha256: str
    sources: dict[str, str]
    """Each Python file that the kernel's module imported (relative to the kernels' folder) -> its SHA-256."""
    seconds: float
    """How long the compile took; never part of a set."""
    globals: dict[str, str] = {}
    """The module-level constants that the kernel and what it calls read, by module and name -> the value."""
    widths: dict[str, int] = {}
    """How many instructions access memory, by kind and width in bits (policy/widths.py); never part of a set."""
