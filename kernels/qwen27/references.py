"""What each kernel must compute, in float64 PyTorch.

Every function takes tensors of the kernel's own types and returns float64, unrounded at the end; where the contract rounds
on the way (to bf16, or an angle to fp32) the reference rounds too. Shapes use rows for the rows of the call, D for a width.
"""

from __future__ import annotations

import torch
from torch import Tensor


def bf16(value: Tensor) -> Tensor:
    """Round to bf16, in float64."""
    return value.to(torch.bfloat16).double()


def silu(value: Tensor) -> Tensor:
    """value * sigmoid(value)."""
    return value * torch.sigmoid(value)


def unit(value: Tensor, eps: float) -> Tensor:
    """value / sqrt(mean(value^2) + eps) over the last dimension."""
    return value / torch.sqrt(value.square().mean(-1, keepdim=True) + eps)


def group_sums(stored: Tensor, size: int = 64) -> Tensor:
    """XS [rows, width / size]: the sums of groups of ``size`` stored values [rows, width]."""
    return stored.double().unflatten(-1, (-1, size)).sum(-1)


def embed(ids: Tensor, words: Tensor, scales: Tensor, biases: Tensor) -> Tensor:
    """[rows, D]: q * s + b. ids [rows]; words [vocabulary, D / 8], lowest nibble first; scales, biases [vocabulary, D / 64]."""
    ids = ids.long()
    nibbles = (words[ids].long().unsqueeze(-1) >> (4 * torch.arange(8, device=words.device))) & 0xF
    quantized = nibbles.flatten(1).double().unflatten(-1, (-1, 64))
    return (quantized * scales[ids].double().unsqueeze(-1) + biases[ids].double().unsqueeze(-1)).flatten(1)


def add_rmsnorm(x: Tensor, residual: Tensor | None, weight: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    """(h, y) [rows, D]: h = bf16(x + residual) or x; y = h / sqrt(mean(h^2) + eps) * weight [D]."""
    hidden = x.double() if residual is None else bf16(x.double() + residual.double())
    return hidden, unit(hidden, eps) * weight.double()


def convolution(qkv: Tensor, state: Tensor, weight: Tensor, windows: Tensor, streams: Tensor) -> Tensor:
    """bf16(silu(conv)) [rows, C] of qkv [rows, C]; state [streams, kept, C]; weight [C, kept + 1]; windows [rows, kept + 1]."""
    kept = state.shape[1]
    index = windows.long()
    old = state.double()[streams.long().unsqueeze(1), index.clamp(max=kept - 1)]
    new = qkv.double()[(index - kept).clamp(min=0)]
    taps = torch.where((index < kept).unsqueeze(-1), old, new)
    return bf16(silu(torch.einsum("rtc,ct->rc", taps, weight.double())))


def gdn_pre(conv: Tensor, a: Tensor, b: Tensor, a_log: Tensor, dt_bias: Tensor, key_heads: int, width: int) -> tuple[Tensor, ...]:
    """(q, k [rows, key_heads, width], v [rows, value heads, width], g, beta [rows, value heads]) of ``convolution``'s result.

    q = c / sqrt(mean(c^2) + 1e-6) / width, k the same over sqrt(width); g = exp(-exp(a_log) * softplus(a + dt_bias)), where
    softplus passes its input through above 20; beta = sigmoid(b).
    """
    heads = conv.unflatten(-1, (-1, width))
    q = unit(heads[:, :key_heads], 1e-6) / width
    k = unit(heads[:, key_heads : 2 * key_heads], 1e-6) / width**0.5
    raw = a.double() + dt_bias.double()
    softplus = torch.where(raw > 20, raw, torch.log1p(torch.exp(raw.clamp(max=20))))
    return q, k, heads[:, 2 * key_heads :], torch.exp(-torch.exp(a_log.double()) * softplus), torch.sigmoid(b.double())


def gated_norm(y: Tensor, z: Tensor, weight: Tensor, eps: float) -> Tensor:
    """[rows, heads, width]: silu(z) * (y / sqrt(mean(y^2) + eps) * weight [width])."""
    return silu(z.double()) * unit(y.double(), eps) * weight.double()


def swiglu(gate: Tensor, up: Tensor) -> Tensor:
    """[rows, N]: silu(gate) * up."""
    return silu(gate.double()) * up.double()


def attn_prep(heads: Tensor, weight: Tensor, positions: Tensor, frequencies: Tensor, eps: float) -> Tensor:
    """[rows, heads, D]: bf16(RMS norm * weight [D]), then rotate-half on the first 2 * HALF dims.

    The angle positions [rows] * frequencies [HALF] is an fp32 product, as the contract computes in fp32.
    """
    half = frequencies.shape[0]
    normed = bf16(unit(heads.double(), eps) * weight.double())
    angle = (positions.float().unsqueeze(-1) * frequencies).double().unsqueeze(1)
    left, right, rest = normed[..., :half], normed[..., half : 2 * half], normed[..., 2 * half :]
    return torch.cat((left * angle.cos() - right * angle.sin(), right * angle.cos() + left * angle.sin(), rest), -1)


def gate_mul(output: Tensor, gate: Tensor) -> Tensor:
    """[rows, heads, D]: output * sigmoid(gate)."""
    return output.double() * torch.sigmoid(gate.double())


def partial(q: Tensor, k: Tensor, v: Tensor, scale: float) -> tuple[Tensor, Tensor, Tensor]:
    """(o [rows, H, D] unnormalised, m, l [rows, H]) of q [rows, H, D] over k, v [keys, HK, D]; H / HK queries a KV head."""
    queries = q.shape[1] // k.shape[1]
    grouped = q.double().unflatten(1, (-1, queries))
    scores = torch.einsum("rkgd,nkd->rkgn", grouped, k.double()) * scale
    m = scores.amax(-1)
    weights = torch.exp(scores - m.unsqueeze(-1))
    return torch.einsum("rkgn,nkd->rkgd", weights, v.double()).flatten(1, 2), m.flatten(1), weights.sum(-1).flatten(1)


def merge(o: Tensor, m: Tensor, l: Tensor) -> Tensor:
    """[rows, H, D]: the partials o [slots, rows, H, D], m, l [slots, rows, H] as one softmax; an empty one has l = 0."""
    m = torch.where(l == 0, -torch.inf, m.double())
    weights = torch.exp(m - m.amax(0))
    return (o.double() * weights.unsqueeze(-1)).sum(0) / (l.double() * weights).sum(0).unsqueeze(-1)
