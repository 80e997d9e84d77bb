"""Dropout on K ranks: the same random numbers where all compute alike, other ones where each computes a part.

                      a region where                 streams           otherwise
    alike on all      ranks hold the same x          the same on all   ranks go on with different x, and drift apart
    a part on each    each rank has its own heads,   one for each      the same places are dropped in every part: K
                      columns or positions                             masks that are one

    Streams(seed)     everywhere: seed      parts: seed + 1 + r         1 each is a generator of its own, so that what
                                                                        one draws moves no other

A mask is kept as booleans, a byte for each number: that is what the memory of dropout is (``cost.tensor``).
Source: Shoeybi et al., Megatron-LM, arXiv:1909.08053, appendix B.2. Megatron Core: ``get_cuda_rng_tracker().fork()``
inside of a region, whose seed is ``seed + 2718 + rank``.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from lockstep.tensor_parallel.f_and_g import Group


class Streams:
    """This rank's random streams: ``everywhere`` is the same on all ranks of ``group``, ``parts`` its own."""

    def __init__(self, seed: int, group: Group = None) -> None:
        self.everywhere = torch.Generator().manual_seed(seed)  # 1
        self.parts = torch.Generator().manual_seed(seed + 1 + dist.get_rank(group))


class Dropout(nn.Module):
    """Numbers become 0 with probability ``p``, drawn from ``stream``; others grow by 1/(1-p). In ``eval()`` none."""

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
    """x where ``kept``, times ``scale``; it remembers the mask alone."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, kept: Tensor, scale: float) -> Tensor:
        ctx.save_for_backward(kept)
        ctx.scale = scale
        return (x * kept).mul_(scale)

    @staticmethod
    def backward(ctx: Any, *dy: Tensor) -> Any:
        (kept,) = ctx.saved_tensors
        return (dy[0] * kept).mul_(ctx.scale), None, None
