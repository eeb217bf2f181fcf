"""The token embedding: rows of a 4-bit affine table."""

import triton
import triton.language as tl

LAUNCH_OPTIONS = {"_embed": {"num_warps": 1, "num_stages": 1}}


@triton.jit
def _embed(IDS, Wt, S, B, OUT, D: tl.constexpr):
    """OUT[row, 64 g ..] = bf16(q * S[id, g] + B[id, g]) for the 4-bit values q of group g = program 1.

    IDS [rows]; Wt [vocabulary, D / 8] words of 8 values, lowest nibble first; S, B [vocabulary, D / 64]; OUT [rows, D].
    """
    row = tl.program_id(0)
    group = tl.program_id(1)
    # A late token's row lies past 2^31 elements, so the token's offsets are 64-bit.
    token = tl.load(IDS + row).to(tl.int64)
    lane = tl.arange(0, 64)
    words = tl.load(Wt + token * (D // 8) + group * 8 + lane // 8)
    quantized = (words >> (4 * (lane % 8))) & 0xF
    scale = tl.load(S + token * (D // 64) + group).to(tl.float32)
    bias = tl.load(B + token * (D // 64) + group).to(tl.float32)
    value = quantized.to(tl.float32) * scale + bias
    tl.store(OUT + row * D + group * 64 + lane, value.to(tl.bfloat16))
