"""Local SGD: each rank makes steps of its own, and every H steps all models are averaged.

With ``period`` H, ranks wait for each other once in H steps, and 1/H of the bytes travel. In between the models drift
apart, each towards the minimum of its own rank's examples. With H = 1 it is Algorithm 1: the mean of models that were
equal before one step of SGD is the model after the mean gradient's step.

*Post-local* SGD begins with H = 1 and goes on with a longer period. ``diloco.py`` makes of each mean one step of an
outer optimizer.

In torch: ``torch.distributed.optim.PostLocalSGDOptimizer`` with a ``PeriodicModelAverager(period, warmup_steps)``, and
``post_localSGD_hook`` for DDP. Its first mean is that after the first local step, ours that after ``period`` of them:
``warmup_steps = switch + period - 1`` makes them alike.

Sources: Stich, Local SGD Converges Fast and Communicates Little, ICLR 2019, arXiv:1805.09767; Lin, Stich, Patel and
Jaggi, Don't Use Large Mini-Batches, Use Local SGD, ICLR 2020, arXiv:1808.07217.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
import torch.distributed as dist
from torch import Tensor

Gradient = Callable[[Tensor, int], Tensor]  # (w, step), step = 0, 1, ... -> this rank's gradient, a new tensor like w


def local_sgd(
    gradient: Gradient, w: Tensor, steps: int, rate: float, period: int, group: dist.ProcessGroup | None = None
) -> Tensor:
    """Local SGD: the mean of all models after ``steps`` steps of each rank, the same on all of them. ``w``, a tensor of
    any shape that is the same on all ranks, stays as it was.

    Cost: ceil(steps/period) all-reduces of |w| numbers."""
    K = dist.get_world_size(group)
    for step in range(steps):
        w = w - rate * gradient(w, step)
        if (step + 1) % period == 0 or step + 1 == steps:
            dist.all_reduce(w, group=group)
            w = w / K
    return w


def sequential_local_sgd(gradients: Sequence[Gradient], w: Tensor, steps: int, rate: float, period: int) -> Tensor:
    """Local SGD without ranks: the steps of all models one after another, in one process. ``gradients`` has one
    function for each model."""
    models = [w] * len(gradients)
    for step in range(steps):
        models = [w - rate * gradient(w, step) for gradient, w in zip(gradients, models, strict=True)]
        if (step + 1) % period == 0 or step + 1 == steps:
            models = [torch.stack(models).sum(0) / len(models)] * len(models)
    return models[0]


def post_local_sgd(
    gradient: Gradient,
    w: Tensor,
    steps: int,
    rate: float,
    period: int,
    switch: int,
    group: dist.ProcessGroup | None = None,
) -> Tensor:
    """Post-local SGD: ``local_sgd`` that averages after each of the first ``switch`` steps, 0 to ``steps``, and with
    ``period`` from then on.

    Cost: switch + ceil((steps - switch)/period) all-reduces of |w| numbers."""
    w = local_sgd(gradient, w, switch, rate, 1, group)
    return local_sgd(lambda w, step: gradient(w, switch + step), w, steps - switch, rate, period, group)
