"""The effect of stale weights on the loss: PipeDream compared with the same SGD with a flush, on the digits.

Each minibatch has its own update in both. With a flush its gradient is that of the newest weights. In PipeDream the
forward pass on stage s uses weights that are p - s - 1 updates old. With weight stashing the backward pass uses the
same ones; without it, the newest ones, and then the gradient is not that of any set of weights.

The worker trains on the virtual cluster, so these losses are those of the program itself. With a flush they are the
same for every p.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn import functional as F

from lockstep.datasets import digits_split
from lockstep.pipeline.schedules import stream
from lockstep.pipeline.stages import chunks_of_stage
from lockstep.pipeline.worker import PipelineWorker
from lockstep.tables import Table
from lockstep.tally import counted
from lockstep.worlds import run

WIDTHS = (64, 32, 32, 32, 32, 32, 32, 32, 10)
MINIBATCH, EPOCHS, RATE, MOMENTUM = 64, 3, 0.02, 0.9
TAIL = 20  # minibatches at the end whose mean loss is reported: an epoch
WAYS = ("flush", "PipeDream", "PipeDream without stashing")


class Found(NamedTuple):
    p: int
    way: str
    oldest: int  # updates between the two passes of a minibatch, on stage 0
    loss: float  # mean of the last epoch's minibatches, each before its update


def staleness(stages: Sequence[int] = (2, 4, 8), rate: float = RATE, momentum: float = MOMENTUM) -> list[Found]:
    """The loss for each number of stages and each way."""
    return [
        Found(p, way, 0 if way == "flush" else p - 1, trained(way, p, rate, momentum)) for p in stages for way in WAYS
    ]


def trained(way: str, p: int, rate: float = RATE, momentum: float = MOMENTUM) -> float:
    return tail(losses(way, p, rate, momentum))


def losses(way: str, p: int, rate: float = RATE, momentum: float = MOMENTUM) -> list[float]:
    """The losses of all minibatches, each before its update."""
    return _losses(way, p, rate, momentum)


@cache  # always called with all arguments: an omitted one would be a separate entry
def _losses(way: str, p: int, rate: float, momentum: float) -> list[float]:
    found: list[float] = run(train, way, rate, momentum, ranks=p, on="dgx-a100").values[-1]
    return found


def tail(found: Sequence[float]) -> float:
    return sum(found[-TAIL:]) / TAIL


def train(way: str, rate: float, momentum: float) -> list[float]:
    """Runs on each rank: the losses of all minibatches, on the last stage only."""
    stage, stages = dist.get_rank(), dist.get_world_size()
    chunks, shapes = chunks_of_stage(WIDTHS, stage, stages)
    for module in chunks:
        widen(module)
    sgd = torch.optim.SGD([p for module in chunks for p in module.parameters()], rate, momentum)
    seen = list[float]()

    def loss(output: Tensor, target: Tensor) -> Tensor:
        found = F.cross_entropy(output, target)
        seen.append(found.item())
        return found

    worker = PipelineWorker(chunks, shapes, loss, sgd, stash=way != "PipeDream without stashing")
    (x, y), _ = digits_split()
    inputs, targets = (torch.split(t, MINIBATCH) * EPOCHS for t in (x.flatten(1), y))
    if way == "flush":
        alone = stream("one_f_one_b", stage, stages, 1)
        for one, target in zip(inputs, targets, strict=True):
            worker.step(alone, [len(one)], [one], [target])
    else:
        sizes = [len(one) for one in inputs]
        worker.step(stream("pipedream", stage, stages, len(sizes)), sizes, inputs, targets)
    return seen


@torch.no_grad()
def widen(module: nn.Module) -> None:
    """Rescale to the initialisation of He et al. (arXiv:1502.01852), without which the signal vanishes in eight layers
    with ReLU: the course's models draw from ±1/sqrt(fan-in), a variance of 1/(3·fan-in), and 2/fan-in is needed."""
    for p in module.parameters():
        p.mul_(math.sqrt(6))


def staleness_table(stages: Sequence[int] = (2, 4, 8)) -> Table:
    head = ["stages", "", "updates between passes, stage 0", "loss of the last epoch"]
    rows = [[str(f.p), f.way, str(f.oldest), f"{f.loss:.3f}"] for f in staleness(stages)]
    return Table(
        f"PipeDream's old weights: {EPOCHS} epochs of the digits, rate {RATE}, momentum {MOMENTUM}", head, rows
    )


def rates_table(p: int = 4, rates: Sequence[float] = (0.005, RATE)) -> Table:
    """The same at several learning rates: with smaller steps, stale weights are close to the newest ones."""
    rows = [[f"{rate:g}", *(f"{trained(way, p, rate):.3f}" for way in WAYS)] for rate in counted(rates, "Training")]
    title = f"Loss of the last of {EPOCHS} epochs, {p} stages, momentum {MOMENTUM}"
    return Table(title, ["rate", *WAYS], rows)
