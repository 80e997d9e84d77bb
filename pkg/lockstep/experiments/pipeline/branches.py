"""A model with parallel branches: each rank computes one, all at the same time. That needs no pipeline.

            ┌─ branch 0 ─┐                 rank 0, which also has what comes before and after
    x ─ (1) ┼─ branch 1 ─┼ (2) ─ y         rank 1
            └─ branch 2 ─┘                 rank 2

    (1) spread    forward: broadcast x          backward: sum the branches' gradients of x
    (2) collect   forward: sum the outputs      backward: broadcast the gradient of y

Each is the adjoint of the other. The branches' outputs are summed, as in ResNeXt; concatenation, as in Inception, is a
sum of outputs that are zero outside their own columns. Consecutive layers wait for each other; branches run at the same
time, and the slowest one determines the time.

Cost: a broadcast and a reduce in the forward pass, and again in the backward pass.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn


class Spread(torch.autograd.Function):
    """(1) ``x`` of rank 0 of the group, on every rank; the other ranks pass a tensor of its shape."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, group: dist.ProcessGroup | None) -> Tensor:
        ctx.group = group
        return from_root(x, group)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return to_root(gradient, ctx.group), None


class Collect(torch.autograd.Function):
    """(2) The sum of all ranks' ``y``, on rank 0 of the group; the others get zeros."""

    @staticmethod
    def forward(ctx: Any, y: Tensor, group: dist.ProcessGroup | None) -> Tensor:
        ctx.group = group
        return to_root(y, group)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return from_root(gradient, ctx.group), None


class Branched(nn.Module):
    """A module in which each rank of the group has its own ``branch``. Every rank calls it, and every rank runs the
    backward pass: rank 0 from its loss, the others from their output, with any gradient (``out.sum().backward()``)."""

    def __init__(self, branch: nn.Module, group: dist.ProcessGroup | None = None) -> None:
        super().__init__()
        self.branch, self.group = branch, group

    def forward(self, x: Tensor) -> Tensor:
        spread: Tensor = Spread.apply(x.requires_grad_() if x.is_leaf else x, self.group)  # type: ignore[no-untyped-call]
        out: Tensor = Collect.apply(self.branch(spread), self.group)  # type: ignore[no-untyped-call]
        return out


def from_root(x: Tensor, group: dist.ProcessGroup | None) -> Tensor:
    x = x.detach().clone(memory_format=torch.contiguous_format)
    dist.broadcast(x, group=group, group_src=0)
    return x


def to_root(x: Tensor, group: dist.ProcessGroup | None) -> Tensor:
    x = x.detach().clone(memory_format=torch.contiguous_format)
    dist.reduce(x, group=group, group_dst=0)
    return x if dist.get_rank(group) == 0 else torch.zeros_like(x)
