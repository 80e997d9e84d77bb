"""DiLoCo: local SGD whose rounds are the steps of an outer optimizer.

    the round        each rank begins with the common w, and takes H steps alone: own
    its gradient     Δ is the mean over the ranks of w - own: one all-reduce in H steps
    the outer step   v <- μ·v + Δ, then w <- w - η·(Δ + μ·v), with the new v

The outer step is SGD with Nesterov momentum, by torch's formula. v stays between rounds, and is the same on all ranks,
since all have made it of the same Δ: it never travels. With η = 1 and μ = 0 this is local SGD, as w - Δ is then the
mean of the models. Momentum carries what rounds have in common further than one round's mean can go.

What a rank does in its H steps is its own affair: the paper's are AdamW's, whose moments stay on the rank from round
to round. Here they are SGD's; ``AdamW(gradient)`` in place of ``gradient`` makes them AdamW's.

In torch: ``torch.optim.SGD(..., momentum=μ, nesterov=True)`` as the outer optimizer, with Δ as ``.grad``. It refuses
``nesterov=True`` without momentum.

Source: Douillard et al., DiLoCo: Distributed Low-Communication Training of Language Models, 2023, arXiv:2311.08105.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.without_waiting.local_sgd import Gradient


def diloco(
    gradient: Gradient,
    w: Tensor,
    steps: int,
    rate: float,
    period: int,
    outer_rate: float,
    momentum: float,
    group: dist.ProcessGroup | None = None,
) -> Tensor:
    """The common model after ``steps`` steps of each rank, the same on all of them. ``w``, a tensor of any shape that
    is the same on all ranks, stays as it was. The last round is shorter where ``period`` does not divide ``steps``.

    Cost: ceil(steps/period) all-reduces of |w| numbers."""
    K, v = dist.get_world_size(group), torch.zeros_like(w)
    for begin in range(0, steps, period):
        own = w
        for step in range(begin, min(begin + period, steps)):
            own = own - rate * gradient(own, step)
        delta = w - own
        dist.all_reduce(delta, group=group)
        w, v = outer_step(w, v, delta / K, outer_rate, momentum)
    return w


def outer_step(w: Tensor, v: Tensor, delta: Tensor, outer_rate: float, momentum: float) -> tuple[Tensor, Tensor]:
    """The next w and v: a step of SGD with Nesterov momentum by the outer gradient ``delta``."""
    v = momentum * v + delta
    return w - outer_rate * (delta + momentum * v), v


def sequential_diloco(
    gradients: Sequence[Gradient], w: Tensor, steps: int, rate: float, period: int, outer_rate: float, momentum: float
) -> Tensor:
    """DiLoCo without ranks: the rounds of all models one after another, in one process. ``gradients`` has one function
    for each model."""
    v = torch.zeros_like(w)
    for begin in range(0, steps, period):
        moved = []
        for gradient in gradients:
            own = w
            for step in range(begin, min(begin + period, steps)):
                own = own - rate * gradient(own, step)
            moved.append(w - own)
        w, v = outer_step(w, v, torch.stack(moved).sum(0) / len(moved), outer_rate, momentum)
    return w


class AdamW:
    """A gradient as AdamW turns it: w - rate·AdamW(gradient)(w, step) is a step of ``torch.optim.AdamW``. It keeps two
    moments like w, from its first call on. Source: Loshchilov and Hutter, Decoupled Weight Decay Regularization, ICLR
    2019, arXiv:1711.05101."""

    def __init__(
        self, gradient: Gradient, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8, decay: float = 0.01
    ) -> None:
        self.gradient, self.betas, self.eps, self.decay = gradient, betas, eps, decay
        self.calls, self.mean, self.square = 0, torch.zeros(()), torch.zeros(())

    def __call__(self, w: Tensor, step: int) -> Tensor:
        g, (b1, b2) = self.gradient(w, step), self.betas
        self.calls += 1
        self.mean = b1 * self.mean + (1 - b1) * g
        self.square = b2 * self.square + (1 - b2) * g * g
        mean, square = self.mean / (1 - b1**self.calls), self.square / (1 - b2**self.calls)
        return mean / (square.sqrt() + self.eps) + self.decay * w
