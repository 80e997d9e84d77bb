"""The one-rank equivalent of each schedule: the same training with the whole model on one rank.

A schedule with a flush is plain minibatch SGD: the mean gradient over all examples, then one update.

PipeDream is SGD with stale weights. On stage s, minibatch i uses the weights of update u(s, i), counted in the stage's
stream. With weight stashing its gradient is taken at exactly these weights, and applied to the newest:

    w^(i+1) = w^(i) - α·∇f(w_0^(u(0, i)), ..., w_{p-1}^(u(p-1, i)))        SOSP 2019, section 3.3
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.func import functional_call

from lockstep.pipeline.instructions import Forward, Stream, Update
from lockstep.pipeline.schedule_costs import part
from lockstep.pipeline.worker import Loss

Weights = dict[str, Tensor]


def synchronous(
    model: nn.Module, loss: Loss, optimizer: torch.optim.Optimizer, x: Tensor, target: Tensor, steps: int = 1
) -> list[float]:
    """The losses of ``steps`` steps with the whole batch."""
    found = []
    for _ in range(steps):
        optimizer.zero_grad()
        total = loss(model(x), target)
        total.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        found.append(total.item())
    return found


def stale(
    places: Sequence[nn.Module],
    loss: Loss,
    optimizer: torch.optim.Optimizer,
    streams: Sequence[Stream],
    inputs: Sequence[Tensor],
    targets: Sequence[Tensor],
) -> list[float]:
    """PipeDream with weight stashing on one rank; ``places[s]`` is stage s. Returns the losses of all minibatches."""
    seen = [versions_seen(stream) for stream in streams]
    history = [[snapshot(module)] for module in places]  # for each stage, its weights after 0, 1, 2 ... updates
    found = []
    for i, (x, target) in enumerate(zip(inputs, targets, strict=True)):
        used = [of_stage[seen[s][i]] for s, of_stage in enumerate(history)]
        leaves = [{name: w.clone().requires_grad_() for name, w in weights.items()} for weights in used]
        h = x
        for module, weights in zip(places, leaves, strict=True):
            h = functional_call(module, weights, h)
        total = loss(h, target)
        total.backward()  # type: ignore[no-untyped-call]
        for module, weights in zip(places, leaves, strict=True):
            for name, p in module.named_parameters():
                p.grad = weights[name].grad
        optimizer.step()
        for module, of_stage in zip(places, history, strict=True):
            of_stage.append(snapshot(module))
        found.append(total.item())
    return found


def versions_seen(stream: Stream) -> dict[int, int]:
    """u: the number of updates before each minibatch's forward pass."""
    updates, seen = 0, dict[int, int]()
    for step in stream:
        if isinstance(step, Forward):
            seen[part(step)[0]] = updates
        updates += isinstance(step, Update)
    return seen


def snapshot(module: nn.Module) -> Weights:
    return {name: p.detach().clone() for name, p in module.named_parameters()}
