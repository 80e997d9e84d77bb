"""Synchronous SGD: each rank computes the gradient of its own examples, and an all-reduce gives all the same step.

Algorithm 1 of the notes, line by line; the code below refers to its numbers. M machines, B' examples for each and step.

    (1)  for m = 1 to M run in parallel on machine m
    (2)      load w_0 from algorithm inputs
    (3)      for t = 1 to T do
    (4)          select a minibatch i_{m,1,t}, i_{m,2,t}, ..., i_{m,B',t} of size B'
    (5)          compute g_{m,t} <- 1/B' · sum of ∇f_{i_{m,b,t}}(w_{t-1}) over b = 1 ... B'
    (6)          all-reduce across all workers to compute G_t = sum of g_{m,t} over m = 1 ... M
    (7)          update model w_t <- w_{t-1} - α_t/M · G_t
    (8)  return w_T (from any machine)

G_t/M is the mean gradient of all M·B' examples: the step is that of one machine with the whole minibatch. w is never
sent. It is the same on all ranks since it begins the same, and all ranks take the same steps.

Cost: T all-reduces of |w| numbers each; one rank alone takes the same path.
Source: the lecture notes' Algorithm 1, Distributed SGD with All-Reduce.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
import torch.distributed as dist
from torch import Tensor, nn

Gradient = Callable[[Tensor, Tensor, Tensor], Tensor]  # (w, x, y) -> the mean gradient of these examples at w
Rate = Callable[[int], float]  # t = 1, 2, ... -> the learning rate of step t
Loss = Callable[[Tensor, Tensor], Tensor]  # (output, y) -> the mean loss of these examples


def all_reduce_sgd(
    gradient: Gradient,
    w: Tensor,
    batches: Iterable[tuple[Tensor, Tensor]],
    alpha: Rate,
    group: dist.ProcessGroup | None = None,
) -> Tensor:
    """w_T, on every rank. ``w`` is w_0 and stays as it was; ``batches`` are this rank's T pairs (x, y)."""
    M = dist.get_world_size(group)  # (1) every rank runs this function, (2) with the same w
    for t, (x, y) in enumerate(batches, start=1):  # (3) (4)
        G = gradient(w, x, y)  # (5)
        dist.all_reduce(G, group=group)  # (6)
        w = w - alpha(t) / M * G  # (7)
    return w  # (8)


def sequential_sgd(gradient: Gradient, w: Tensor, batches: Iterable[tuple[Tensor, Tensor]], alpha: Rate) -> Tensor:
    """The same on one machine, without ranks: each pair (x, y) is a whole minibatch of M·B' examples."""
    for t, (x, y) in enumerate(batches, start=1):
        w = w - alpha(t) * gradient(w, x, y)
    return w


def training_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    loss: Loss,
    x: Tensor,
    y: Tensor,
    group: dist.ProcessGroup | None = None,
) -> None:
    """A step of any optimizer, such as momentum or Adam, on a minibatch; ``(x, y)`` is this rank's share of it.

    Optimizers get the mean gradient of the whole minibatch, so that their state stays the same on all ranks, too."""
    optimizer.zero_grad()
    if len(x):  # without examples there is no mean loss
        loss(model(x), y).backward()  # type: ignore[no-untyped-call]
    average_gradients(model.parameters(), len(x), group)
    optimizer.step()


def average_gradients(parameters: Iterable[Tensor], examples: int, group: dist.ProcessGroup | None = None) -> None:
    """Each ``.grad``, the mean over this rank's examples, becomes the mean over the examples of all ranks.

    Shares may differ in size, or be empty: gradients are weighted by the number of examples, sum of n_m·g_m divided by
    the sum of n_m. (The mean of the ranks' means would favour the examples of small shares.) One all-reduce of |w| + 1
    numbers, the last of which is n_m.
    """
    weights = [p for p in parameters if p.requires_grad]
    gradients = [torch.zeros_like(p) if p.grad is None else p.grad for p in weights]
    total = torch.cat([examples * g.flatten() for g in gradients] + [weights[0].new_tensor([examples])])
    dist.all_reduce(total, group=group)
    mean = total[:-1] / total[-1]
    for p, g in zip(weights, torch.split(mean, [p.numel() for p in weights]), strict=True):
        p.grad = g.view_as(p)
