"""Synchronised batch normalisation: the statistics are over the examples of all ranks.

A batch norm mixes the examples of a batch: each output depends on the mean and the variance of all of them. On K ranks,
each with its own small batch, that is a different function from that of one rank with the large batch. So the ranks
share the statistics, for each of C columns:

                    each rank sends                 all ranks get                          numbers
    forward   (1)   Σ x, Σ x², rows                 mean = Σ x / rows                        2C + 1
                                                    variance = Σ x² / rows - mean²
    backward  (2)   n·Σ g, n·Σ g·x̂                  both as means over all examples              2C

g is the gradient of this rank's loss, a mean over its own n rows; the loss of the whole batch counts it n times, as
``average_gradients`` does. Where all n are equal the factor cancels, and this is what torch.nn.SyncBatchNorm computes.
Source: Ioffe & Szegedy, Batch Normalization, arXiv:1502.03167, algorithm 1, and its gradients in section 3.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

Group = dist.ProcessGroup | None


def sync_batch_norm(x: Tensor, eps: float, group: Group = None) -> Tensor:
    """This rank's rows (n, C), normalised by the mean and the biased variance of all ranks' rows. A rank may have
    none."""
    mean, variance, _ = moments(x, group)
    return (x - mean) / (variance + eps).sqrt()


def moments(x: Tensor, group: Group = None) -> tuple[Tensor, Tensor, float]:
    """Mean and biased variance of each column over the rows of all ranks, and the number of rows. One all-reduce of
    2C + 1 numbers."""
    sums = torch.cat([x.sum(0), (x * x).sum(0), x.new_tensor([len(x)])])
    dist.all_reduce(sums, group=group)  # (1)
    rows = sums[-1].item()
    mean, mean_of_squares = (sums[:-1] / rows).chunk(2)
    return mean, mean_of_squares - mean * mean, rows


class SyncBatchNorm(nn.BatchNorm1d):
    """``nn.BatchNorm1d`` of inputs (n, C) whose training batch is that of all ranks of ``group``."""

    def __init__(self, of: nn.BatchNorm1d, group: Group = None) -> None:
        """With the parameters and the running statistics of ``of``."""
        super().__init__(of.num_features, of.eps, of.momentum, dtype=of.weight.dtype)
        self.weight, self.bias, self.group = of.weight, of.bias, group
        self.load_state_dict(of.state_dict())

    def forward(self, x: Tensor) -> Tensor:
        if not self.training:
            return super().forward(x)
        normalised, mean, variance, rows = _Normalise.apply(x, self.eps, self.group)  # type: ignore[no-untyped-call]
        self._follow(mean, variance * rows / max(1, rows - 1))
        return normalised * self.weight + self.bias  # type: ignore[no-any-return]

    def _follow(self, mean: Tensor, variance: Tensor) -> None:
        """Update the running statistics, which evaluation uses; with the unbiased variance, as torch does."""
        assert self.running_mean is not None
        assert self.running_var is not None
        assert self.num_batches_tracked is not None
        self.num_batches_tracked += 1
        weight = 1 / self.num_batches_tracked.item() if self.momentum is None else self.momentum
        self.running_mean.lerp_(mean, weight)
        self.running_var.lerp_(variance, weight)


class _Normalise(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, eps: float, group: Group) -> tuple[Tensor, Tensor, Tensor, float]:
        mean, variance, ctx.rows = moments(x, group)
        scale = (variance + eps).rsqrt()
        normalised = (x - mean) * scale
        ctx.group = group
        ctx.mark_non_differentiable(mean, variance)
        ctx.save_for_backward(normalised, scale)
        return normalised, mean, variance, ctx.rows

    @staticmethod
    def backward(ctx: Any, g: Tensor, *rest: Any) -> tuple[Tensor, None, None]:
        normalised, scale = ctx.saved_tensors
        n = len(g)
        sums = n * torch.cat([g.sum(0), (g * normalised).sum(0)])
        dist.all_reduce(sums, group=ctx.group)  # (2)
        mean, mean_with_x = (sums / max(1, n) / ctx.rows).chunk(2)
        return (g - mean - normalised * mean_with_x) * scale, None, None


def synchronised(model: nn.Sequential, group: Group = None) -> nn.Sequential:
    """The same layers with the same parameters, each ``nn.BatchNorm1d`` as a ``SyncBatchNorm``."""
    return nn.Sequential(*[SyncBatchNorm(m, group) if isinstance(m, nn.BatchNorm1d) else m for m in model])
