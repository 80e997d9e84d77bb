"""Gradients that travel as fewer bytes: half precision, the largest elements alone, a matrix of low rank.

Each function takes this rank's gradient and its *residual*, what it has not sent so far. It sends what it can of their
total, and returns the mean of what all ranks have sent and the new residual: total = sent + residual. So nothing is
lost, it is only sent later: that is *error feedback*.

function                      sent + residual       bytes a rank sends, of n numbers in float32     collectives
half_precision                total, to the bit     2·n bytes                                        one all-reduce
topk_with_error_feedback      total, to the bit     k·(4 + 8) bytes, and gets K times as many        two all-gathers
power_sgd, n = rows·columns   total, up to rounding 4·r·(rows + columns) bytes                       two all-reduces

In torch, hooks of DDP: ``model.register_comm_hook(group, fp16_compress_hook)``, and ``powerSGD_hook`` with a
``PowerSGDState``, from ``torch.distributed.algorithms.ddp_comm_hooks``. A top-k hook has to be written by hand.

Sources: Seide et al., 1-Bit Stochastic Gradient Descent, Interspeech 2014 (error feedback); Lin et al., Deep Gradient
Compression, ICLR 2018, arXiv:1712.01887 (the largest elements); Vogels, Karimireddy and Jaggi, PowerSGD: Practical
Low-Rank Gradient Compression for Distributed Optimization, NeurIPS 2019, arXiv:1905.13727.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.without_waiting.local_sgd import Gradient

Compress = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]  # (gradient, residual) -> (mean, new residual)


def half_precision(gradient: Tensor, residual: Tensor, group: dist.ProcessGroup | None = None) -> tuple[Tensor, Tensor]:
    """Compression to float16: everything is sent, rounded, and the residual is what rounding has cut off. ``gradient``
    is float32 or float64. An element of K times 65,504 or more overflows, as in torch's hook: loss scaling is for that.

    The all-reduce adds in float16, and the rounding errors of its own additions are in nobody's residual."""
    K = dist.get_world_size(group)
    total = gradient + residual
    mean = (total / K).half()
    sent = K * mean.to(total.dtype)
    dist.all_reduce(mean, group=group)
    return mean.to(total.dtype), total - sent


def topk_with_error_feedback(
    gradient: Tensor, residual: Tensor, k: int, group: dist.ProcessGroup | None = None
) -> tuple[Tensor, Tensor]:
    """Top-k sparsification: the ``k`` elements of largest magnitude are sent, as values and indices; the others stay in
    the residual.

    ``gradient`` and ``residual`` are vectors of n numbers, 1 ≤ k ≤ n. The mean is a dense vector, the same on all
    ranks, with at most K·k non-zero elements. Where ranks send the same index, their values add up."""
    K = dist.get_world_size(group)
    total = gradient + residual
    chosen = total.abs().topk(k).indices
    values, indices = total.new_empty(K * k), chosen.new_empty(K * k)
    dist.all_gather_into_tensor(values, total[chosen], group=group)
    dist.all_gather_into_tensor(indices, chosen, group=group)
    mean = torch.zeros_like(total).index_add(0, indices, values) / K
    return mean, total.index_fill(0, chosen, 0.0)


def power_sgd(
    gradient: Tensor, residual: Tensor, q: Tensor, group: dist.ProcessGroup | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """PowerSGD, one step of a power iteration: the matrix M (rows, columns) is sent as P·Qᵀ of rank r (Algorithm 1 of
    the paper).

    ``q`` (columns, r) is the last step's Q; ``first_q`` is the first. The new Q is returned third, the same on all
    ranks. With every step M·Q comes closer to M's largest singular vectors."""
    K = dist.get_world_size(group)
    total = gradient + residual
    p = total @ q
    dist.all_reduce(p, group=group)  # the sum: its columns span the same space as the mean's
    p = torch.linalg.qr(p).Q
    own = total.T @ p
    q = own / K
    dist.all_reduce(q, group=group)
    return p @ q.T, total - p @ own.T, q


def first_q(columns: int, rank: int, dtype: torch.dtype = torch.float32, seed: int = 0) -> Tensor:
    """The Q (columns, rank) to begin with, drawn from a normal distribution, the same on all ranks."""
    return torch.randn(columns, rank, dtype=dtype, generator=torch.Generator().manual_seed(seed))


class PowerSGD:
    """PowerSGD as a ``Compress`` that keeps Q from step to step. A vector is sent as a matrix of so many ``columns``,
    by its approximation of rank ``rank``.

    A network's parameters are matrices already; the parameters of a single layer are one, with the bias as last row."""

    def __init__(self, columns: int, rank: int, group: dist.ProcessGroup | None = None) -> None:
        self.columns, self.rank, self.group = columns, rank, group
        self.q: Tensor | None = None

    def __call__(self, gradient: Tensor, residual: Tensor) -> tuple[Tensor, Tensor]:
        shape = (-1, self.columns)
        q = first_q(self.columns, self.rank, gradient.dtype) if self.q is None else self.q
        mean, left, self.q = power_sgd(gradient.view(shape), residual.view(shape), q, self.group)
        return mean.view_as(gradient), left.view_as(gradient)


def uncompressed(gradient: Tensor, residual: Tensor, group: dist.ProcessGroup | None = None) -> tuple[Tensor, Tensor]:
    """No compression: the whole total in one all-reduce; the residual is 0."""
    total = gradient + residual
    dist.all_reduce(total, group=group)
    return total / dist.get_world_size(group), torch.zeros_like(residual)


def compressed_sgd(
    gradient: Gradient, w: Tensor, steps: int, rate: float, compress: Compress, feedback: bool = True
) -> Tensor:
    """SGD with compressed gradients: w after ``steps`` steps, the same on all ranks, each by the mean that ``compress``
    returns. Without ``feedback`` the residuals are thrown away. ``w`` stays as it was."""
    residual = torch.zeros_like(w)
    for step in range(steps):
        mean, left = compress(gradient(w, step), residual)
        w = w - rate * mean
        residual = left if feedback else residual
    return w
