"""Training with a schedule drawn by hand: a stage per rank of a virtual cluster, compared with the whole model on one.

It is a file of its own, since the whole of ``drawn_schedule``, an exercise's reference, is refused to answers.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn import functional as F

from lockstep.models import linear
from lockstep.pipeline.drawn_schedule import Rows, streams_of
from lockstep.pipeline.instructions import Pair
from lockstep.pipeline.worker import pipeline_worker
from lockstep.worlds import run

WIDTH, EXAMPLES, RATE = 6, 4, 0.5  # of the model: its layers, a micro-batch, the learning rate


class Trained(NamedTuple):
    """The loss before each step, with the drawing (``losses``) and with the whole model on one rank (``alone``), and
    the largest difference between the two models' weights afterwards."""

    losses: list[float]
    alone: list[float]
    apart: float


def trained(rows: Rows, steps: int = 4) -> Trained:
    """Some steps of SGD with a legal drawing of at least one micro-batch, compared with one rank."""
    return _trained(tuple(tuple(stream) for stream in streams_of(rows)), steps)


@cache
def _trained(streams: tuple[tuple[Pair, ...], ...], steps: int) -> Trained:
    p, m = len(streams), sum(kind == "F" for kind, _ in streams[0])
    values = run(on_a_stage, streams, steps, ranks=p, on="dgx-a100", seed=0).values
    alone, weights = on_one_rank(p, m, steps)
    mine = [w for _, of_stage in values for w in of_stage]
    apart = max(float((a - b).abs().max()) for a, b in zip(mine, weights, strict=True))
    return Trained(values[-1][0], alone, apart)


def on_a_stage(streams: tuple[tuple[Pair, ...], ...], steps: int) -> tuple[list[float], list[Tensor]]:
    """Runs on each rank: the losses, which only the last stage has, and the weights of this stage."""
    stage, stages = dist.get_rank(), dist.get_world_size()
    m = sum(kind == "F" for kind, _ in streams[stage])
    x, target = batch(m)
    module, seen = layer_of(stage), list[float]()

    def loss(y: Tensor, wanted: Tensor) -> Tensor:
        found = F.mse_loss(y, wanted)
        seen.append(found.item())
        return found

    inputs, targets = list(x) if stage == 0 else [], list(target) if stage == stages - 1 else []
    for _ in range(steps):
        found = pipeline_worker(module, streams[stage], inputs, targets, loss, (EXAMPLES, WIDTH))
        update(module, found)
    means = [sum(seen[at : at + m]) / m for at in range(0, len(seen), m)]
    return means, [p.detach() for p in module.parameters()]


def on_one_rank(stages: int, micro_batches: int, steps: int) -> tuple[list[float], list[Tensor]]:
    """The same on one rank with the whole model and the whole batch."""
    x, target = batch(micro_batches)
    model, losses = nn.Sequential(*(layer_of(stage) for stage in range(stages))), list[float]()
    for _ in range(steps):
        loss = F.mse_loss(model(x.flatten(0, 1)), target.flatten(0, 1))
        update(model, torch.autograd.grad(loss, list(model.parameters())))
        losses.append(loss.item())
    return losses, [p.detach() for p in model.parameters()]


def layer_of(stage: int) -> nn.Sequential:
    return nn.Sequential(linear(WIDTH, WIDTH, seed=0, index=stage), nn.Tanh())


def batch(micro_batches: int) -> tuple[Tensor, Tensor]:
    dice = torch.Generator().manual_seed(0)
    x = torch.randn(micro_batches, EXAMPLES, WIDTH, generator=dice)
    return x, x.flip(-1).tanh()


def update(module: nn.Module, gradients: list[Tensor] | tuple[Tensor, ...]) -> None:
    with torch.no_grad():
        for parameter, gradient in zip(module.parameters(), gradients, strict=True):
            parameter.sub_(gradient, alpha=RATE)
