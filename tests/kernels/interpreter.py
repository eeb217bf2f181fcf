"""Makes Triton's interpreter compute with bf16 as a GPU does. For a process that set TRITON_INTERPRET before Triton."""

import numpy as np
import triton.language as tl
from triton.runtime import interpreter


def widened(bits: np.ndarray) -> np.ndarray:
    """The fp32 values of bf16 bit patterns: the interpreter keeps them in uint16."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def narrowed(values: np.ndarray) -> np.ndarray:
    """The bf16 bit patterns of fp32 values, rounded to nearest, ties to even."""
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32).astype(np.uint64)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(values), np.uint16(0x7FC0), rounded)


def install() -> None:
    """Replace two of the interpreter's operations.

    Triton 3.6 to 3.7.1 multiply the bit patterns of bf16 operands as integers (`InterpreterBuilder.create_dot`), and cut
    fp32 off to bf16 instead of rounding it (`cast_impl`). Delete this when the oldest supported release does neither.
    """
    builder = interpreter.InterpreterBuilder
    cast = builder.cast_impl

    def multiply(self, a, b, d, input_precision, max_num_imprecise_acc):
        left, right = (widened(each.data) if each.dtype.scalar == tl.bfloat16 else each.data for each in (a, b))
        return interpreter.TensorHandle(np.matmul(left, right) + d.data, d.dtype.scalar)

    def convert(self, source, wanted):
        between = (source.dtype.scalar, wanted.scalar)
        if between == (tl.bfloat16, tl.float32):
            return interpreter.TensorHandle(widened(source.data), tl.float32)
        if between == (tl.float32, tl.bfloat16):
            return interpreter.TensorHandle(narrowed(source.data), tl.bfloat16)
        return cast(self, source, wanted)

    builder.create_dot = multiply
    builder.cast_impl = convert
