"""Compiles kernels at the real geometry for an absent target, and prints the shared memory of each as JSON.

    python compile.py FOLDER 121 FUNCTION,FUNCTION

FOLDER holds the package `qwen27`. A process of its own, since Triton keeps one active driver a process.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import triton
import triton.language as tl
from triton.runtime.jit import JITFunction, MockTensor

sys.path.append(str(Path(__file__).resolve().parents[2]))

from build_capture.capture.triton_steps import AbsentDriver

ATTENTION = {"H": 24, "HK": 4, "D": 256, "G": 6, "CH": 512, "SCALE": 0.0625, "GR": 4}
LAUNCHES = {
    "_embed": {"D": 5120},
    "_add_rmsnorm": {"eps": 1e-6, "D": 5120, "BLOCK": 8192, "HAS_R": 1},
    "_gdn_pre": {"C": 10240, "KH": 16, "VH": 48, "DK": 128, "NKEEP": 3, "MULTI": 1},
    "_gated_norm": {"eps": 1e-6, "VH": 48, "DV": 128},
    "_swiglu": {"N": 17408, "BLOCK": 1024},
    "_attn_prep": {"eps": 1e-6, "H": 24, "HKV": 4, "D": 256, "HALF": 32, "MROPE": 0, "ROWS": 0, "HSEC": 11, "WSEC": 10},
    "_gate_mul": {"H": 24, "D": 256},
    "_group_sums": {"ldx": 5120, "KG": 80, "GS": 64, "GB": 16},
    "_paths": {"MAXD": 128},
    "_shared": {"W": 17, **ATTENTION},
    "_tail": {"W": 17, "MAXD": 128, **ATTENTION},
    "_merge": {"W": 17, "H": 24, "D": 256, "G": 6, "DS": 64, "CH": 512, "GR": 4},
}
"""Launch name -> its values; every parameter without one is a pointer."""
WORDS = {"IDS", "Wt", "WIN", "SID", "POS", "PARENTS", "PATHS", "DEPTHS", "STREAM", "ITEMS", "ROWS"}
FLOATS = {"XS", "ALOG", "DTB", "G", "BETA", "INV", "PO", "PM", "PL"}


def pointee(name: str) -> tl.dtype:
    """What the pointer parameter points at."""
    return tl.int64 if name == "OFF" else tl.int32 if name in WORDS else tl.float32 if name in FLOATS else tl.bfloat16


def kernel_and_options(function: str) -> tuple[JITFunction, dict[str, int]]:
    """The kernel and its launch options, wherever in the package they are."""
    for name in ("embedding", "norms", "deltanet", "gates", "heads", "tree", "shared_keys", "own_keys"):
        module = importlib.import_module(f"qwen27.{name}")
        if function in module.LAUNCH_OPTIONS:
            return getattr(module, function), module.LAUNCH_OPTIONS[function]
    raise LookupError(function)


def main() -> None:
    """Compile and print."""
    folder, capability, functions = sys.argv[1], int(sys.argv[2]), sys.argv[3].split(",")
    sys.path.insert(0, str(Path(folder).parent))
    triton.runtime.driver.set_active(AbsentDriver(capability))
    shared = {}
    for function in functions:
        kernel, options = kernel_and_options(function)
        values = LAUNCHES[function]
        arguments = {name: values[name] if name in values else MockTensor(pointee(name)) for name in kernel.arg_names}
        shared[function] = kernel.warmup(**arguments, grid=(1,), enable_fp_fusion=True, **options).metadata.shared
    json.dump(shared, sys.stdout)


if __name__ == "__main__":
    main()
