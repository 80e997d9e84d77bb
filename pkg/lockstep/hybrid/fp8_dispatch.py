"""Tokens travel to their experts in 8 bits, and come back in 16: FP8 dispatch, BF16 combine.

                forward                        backward
    dispatch    1 rows in FP8 to the experts   gradients of 1 come back in the rows' dtype
    combine     results in the rows' dtype     2 their gradients in FP8 to the experts

A row of h numbers is h bytes and h/128 scales of 4 bytes: 128 numbers share one, so that one large number does not take
the others' bits. Scales are powers of 2, so that scaling itself rounds nothing. What arrives is brought back into the
rows' dtype before it is used. Bytes of an exchange: 1.03·h a row instead of 2·h.

Here the cast is a few operations of torch, one pass over memory each; programs for GPUs have one kernel for it, or let
it be part of the product before.

Source: DeepSeek-V3, arXiv:2412.19437, section 3.3.2 (tiles of 1 x 128) and 3.3.3 (the activation before the experts' up
projections, and the gradient before their down projections, are dispatched in FP8; both combines stay in BF16).
"""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.experts.dispatch import all_to_all
from lockstep.hybrid.grid import TILE

LARGEST = 448.0  # number of E4M3


class Dispatch(torch.autograd.Function):
    """Rows (n, h), equal parts to all ranks of ``group``: to those that arrive, (n, h)."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, group: dist.ProcessGroup) -> Tensor:
        ctx.group = group
        return in_8_bits(rows, group)  # 1

    @staticmethod
    def backward(ctx: Any, *dy: Tensor) -> Any:
        return equal_parts(dy[0], ctx.group), None


class Combine(torch.autograd.Function):
    """The way back: (n, h) to the same shape."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, group: dist.ProcessGroup) -> Tensor:
        ctx.group = group
        return equal_parts(rows, group)

    @staticmethod
    def backward(ctx: Any, *dy: Tensor) -> Any:
        return in_8_bits(dy[0], ctx.group), None  # 2


def in_8_bits(rows: Tensor, group: dist.ProcessGroup) -> Tensor:
    return opened(equal_parts(packed(rows), group), rows.dtype)


def equal_parts(rows: Tensor, group: dist.ProcessGroup) -> Tensor:
    K = dist.get_world_size(group)
    sizes = [len(rows) // K] * K
    return all_to_all(rows, sizes, sizes, group)


def packed(rows: Tensor) -> Tensor:
    """Rows (n, h) as bytes (n, h + h/32): numbers, then scales. h is a multiple of 128."""
    tiles = rows.reshape(len(rows), -1, TILE)
    largest = tiles.abs().amax(2, keepdim=True).float().clamp_(min=torch.finfo(torch.float32).tiny * LARGEST)
    scales = torch.exp2(torch.ceil(torch.log2(largest / LARGEST)))
    numbers = (tiles / scales.to(rows.dtype)).to(torch.float8_e4m3fn).flatten(1)
    return torch.cat([numbers.view(torch.uint8), scales.flatten(1).view(torch.uint8)], 1)


def opened(sent: Tensor, dtype: torch.dtype) -> Tensor:
    """The inverse of ``packed``, as far as 8 bits hold it."""
    h = sent.shape[1] * TILE // (TILE + 4)
    numbers = sent[:, :h].view(torch.float8_e4m3fn).to(dtype).reshape(len(sent), -1, TILE)
    scales = sent[:, h:].contiguous().view(torch.float32).to(dtype)
    return (numbers * scales.unsqueeze(2)).flatten(1)
