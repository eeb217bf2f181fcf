"""The variables of the environment that change what Triton makes elsewhere, and what each does to a capture: nothing, or what is said here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from build_capture.capture.gpu.device import CUDA_VARIABLES
from build_capture.doctor.records import Variable
from build_capture.process import KEPT_VARIABLES

NOTHING = "nothing: the environment of a capture is closed"

_PINNED = {
    "TRITON_DISABLE_LINE_INFO": "nothing: a capture always leaves line tables out, so that its bytes are the same on every day",
    "TRITON_DEFAULT_FP_FUSION": "nothing: a capture always fuses, whatever Triton's default is",
    "TRITON_PTXAS_PATH": "nothing: --ptxas (-Dcapture-ptxas) names another assembler, and the set records it",
    "TRITON_PTXAS_BLACKWELL_PATH": "nothing: --ptxas (-Dcapture-ptxas) names another assembler, and the set records it",
    "TRITON_OVERRIDE_ARCH": "nothing: --target (-Dcapture-target) says what is compiled for",
    "TRITON_CACHE_DIR": "nothing: each compile has a cache of its own; yours is neither read nor written",
    "TRITON_HOME": "nothing: Triton's home is a private folder",
}
"""Variables whose place something else takes."""

ELSEWHERE = {
    "TRITON_OVERRIDE_ARCH": "compiles for another GPU",
    "TRITON_PTXAS_PATH": "assembles with another ptxas",
    "TRITON_PTXAS_BLACKWELL_PATH": "assembles for newer GPUs with another ptxas",
    "TRITON_MOCK_PTX_VERSION": "writes PTX for another ptxas than the one that assembles it",
    "PTXAS_OPTIONS": "passes options to ptxas",
    "DISABLE_PTXAS_OPT": "assembles without optimization",
    "DISABLE_LLVM_OPT": "compiles without optimization",
    "ALLOW_LHS_TMEM_LAYOUT_CONVERSION": "lets the compiler lay operands out otherwise",
    "TRITON_DEFAULT_FP_FUSION": "decides whether products and sums are fused: other bits",
    "TRITON_F32_DEFAULT": "decides the precision of fp32 products: other bits",
    "TRITON_DISABLE_LINE_INFO": "decides whether cubins hold line tables, which change with the source's time",
    "USE_IR_LOC": "takes line tables from the compiler's own steps",
    "TRITON_DEBUG": "compiles assertions in",
    "TRITON_ENABLE_ASAN": "compiles an address sanitizer in",
    "TRITON_INSTRUMENTATION_MODE": "compiles instrumentation in",
    "TRITON_INTERPRET": "interprets kernels in Python: nothing is compiled",
    "TRITON_ALLOW_NON_CONSTEXPR_GLOBALS": "lets kernels read globals that may change",
    "TRITON_KERNEL_OVERRIDE": "takes code from files in place of what was compiled",
    "TRITON_OVERRIDE_DIR": "says where that code is",
    "TRITON_CACHE_DIR": "moves the cache that compiled kernels are taken from",
    "TRITON_CACHE_MANAGER": "takes compiled kernels from elsewhere",
    "TRITON_REMOTE_CACHE_BACKEND": "takes compiled kernels from another machine",
    "TRITON_HOME": "moves Triton's folders",
    "TRITON_LIBDEVICE_PATH": "links another math library in",
    "TRITON_DEFAULT_BACKEND": "takes another backend than CUDA",
    "TRITON_PLUGIN_PATHS": "loads passes into the compiler",
    "LLVM_PASS_PLUGIN_PATH": "loads passes into LLVM",
}
"""What each does where a Triton from 3.6 to 3.9 sees it."""

PREFIXES = ("TRITON_", "PTXAS_", "MLIR_", "LLVM_", "NVPTX_")
"""How the names of Triton's variables begin, and those of what it is built from."""


def find_variables(environment: Mapping[str, str]) -> list[Variable]:
    """Every variable of `ELSEWHERE`, set or not, and whatever else is set and has a name of Triton's or its parts."""
    further = sorted(name for name in environment if name.startswith(PREFIXES) and name not in ELSEWHERE)
    return [Variable(name, environment.get(name), ELSEWHERE.get(name, "is Triton's or LLVM's to read"), _here(name)) for name in (*ELSEWHERE, *further)]


def _here(name: str) -> str:
    if name in CUDA_VARIABLES:
        return "is seen by mode gpu alone, and changes no cubin"
    return _PINNED.get(name, NOTHING)


def seen_variables(environment: Mapping[str, str]) -> Iterator[str]:
    """The variables that are set and that a compile does see."""
    yield from (name for name in KEPT_VARIABLES if name in environment)
