"""Tensor-parallel dropout: the same random numbers where all ranks compute alike, different ones where each has a part.

                      a region where                 streams           otherwise
    alike on all      ranks hold the same x          the same on all   ranks continue with different x, and drift apart
    a part on each    each rank has its own heads,   one for each      every part drops the same places: K masks that
                      columns or positions                             are one

    Streams(seed)     everywhere: seed      parts: seed + 1 + r         1 separate generators, so that drawing from one
                                                                        does not advance another

A mask is kept as booleans, one byte for each number: dropout's part of the memory of activations
(``cost.tensor_parallel``).
Source: Shoeybi et al., Megatron-LM, arXiv:1909.08053, appendix B.2. Megatron Core: ``get_cuda_rng_tracker().fork()``
inside a region, with the seed ``seed + 2718 + rank``.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from lockstep.tensor_parallel.f_and_g import Group


class Streams:
    """This rank's random streams: ``everywhere`` is the same on all ranks of ``group``, ``parts`` is its own."""

    def __init__(self, seed: int, group: Group = None) -> None:
        self.everywhere = torch.Generator().manual_seed(seed)  # 1
        self.parts = torch.Generator().manual_seed(seed + 1 + dist.get_rank(group))


class Dropout(nn.Module):
    """Zeroes elements with probability ``p``, drawn from ``stream``, and scales the others by 1/(1-p); not in
    ``eval()``."""

    def __init__(self, p: float, stream: torch.Generator) -> None:
        super().__init__()
        self.p, self.stream = p, stream

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or not self.p:
            return x
        kept = torch.rand(x.shape, generator=self.stream) >= self.p
        out: Tensor = Masked.apply(x, kept, 1 / (1 - self.p))  # type: ignore[no-untyped-call]
        return out


class Masked(torch.autograd.Function):
    """x where ``kept``, times ``scale``; only the mask is saved for the backward pass."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, kept: Tensor, scale: float) -> Tensor:
        ctx.save_for_backward(kept)
        ctx.scale = scale
        return (x * kept).mul_(scale)

    @staticmethod
    def backward(ctx: Any, *dy: Tensor) -> Any:
        (kept,) = ctx.saved_tensors
        return (dy[0] * kept).mul_(ctx.scale), None, None
