"""torch.distributed.pipelining: gradients of the one-rank run under every schedule, in both worlds alike.

The schedules wait for what they receive when they need it, on CPU and in virtual time: their traces show the order of
the micro-batches and the bubble, but no transfer hidden behind a computation.
"""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
from both_worlds import both, quietly, same
from torch import nn
from torch.distributed.pipelining import (
    PipelineStage,
    Schedule1F1B,
    ScheduleGPipe,
    ScheduleInterleaved1F1B,
    ScheduleInterleavedZeroBubble,
    ScheduleLoopedBFS,
    ScheduleZBVZeroBubble,
    pipe_split,
    pipeline,
)

DATA = torch.Generator().manual_seed(1)
X, Y = torch.randn(8, 8, generator=DATA), torch.randn(8, 8, generator=DATA)


def stages(n):
    torch.manual_seed(0)
    return [nn.Sequential(nn.Linear(8, 8), nn.Tanh()) for _ in range(n)]


def loss(y, target):
    return (y - target).square().mean()


def gradients(module):
    return [p.grad for p in module.parameters()]


def loop(rank, ranks, per_rank):
    return [rank + i * ranks for i in range(per_rank)]


def vee(rank, ranks, per_rank):
    return [rank, 2 * ranks - 1 - rank]


def step(schedule, per_rank, micro, placed):
    """Two steps of a pipeline: each rank's gradients by stage, and the losses where they are known."""
    rank, ranks, device = dist.get_rank(), dist.get_world_size(), torch.device("cpu")
    n, modules = per_rank * ranks, stages(per_rank * ranks)
    mine = placed(rank, ranks, per_rank)
    parts = [PipelineStage(modules[i], i, n, device) for i in mine]
    run_one = schedule(parts if per_rank > 1 else parts[0], n_microbatches=micro, loss_fn=loss)
    losses = []
    for _ in range(2):
        nn.ModuleList(modules).zero_grad()  # the schedule divides what is in .grad by the number of micro-batches
        run_one.step(*([X] if 0 in mine else []), **({"target": Y, "losses": losses} if n - 1 in mine else {}))
    return {i: gradients(modules[i]) for i in mine}, losses


@pytest.mark.sampled(7)
@pytest.mark.parametrize(
    ("schedule", "ranks", "per_rank", "micro", "placed"),
    [
        (ScheduleGPipe, 3, 1, 4, loop),
        (Schedule1F1B, 4, 1, 8, loop),
        (ScheduleInterleaved1F1B, 2, 2, 4, loop),
        (ScheduleInterleaved1F1B, 4, 2, 8, loop),
        (ScheduleLoopedBFS, 2, 2, 4, loop),
        (ScheduleInterleavedZeroBubble, 2, 2, 4, loop),
        (ScheduleZBVZeroBubble, 2, 2, 4, vee),
    ],
    ids=lambda p: getattr(p, "__name__", str(p)),
)
def test_every_schedule_gives_the_gradients_of_one_rank(schedule, ranks, per_rank, micro, placed):
    modules = stages(ranks * per_rank)
    whole = loss(nn.Sequential(*modules)(X), Y)
    whole.backward()
    values = both(step, schedule, per_rank, micro, placed, ranks=ranks)
    told = [torch.stack(losses[:micro]).mean() for _, losses in values if losses]
    same(told, [whole.detach()])
    for found, _ in values:
        for i, value in found.items():
            same(value, gradients(modules[i]))


class Halves(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x):
        x = torch.tanh(self.first(x))
        pipe_split()
        return self.second(x)


@pytest.mark.slow
def test_a_model_that_torch_cuts_into_stages():
    def use():
        quietly()
        stage = pipeline(Halves(), mb_args=(X[:2],)).build_stage(dist.get_rank(), torch.device("cpu"))
        schedule = Schedule1F1B(stage, 4, loss_fn=loss)
        if dist.get_rank() == 0:
            schedule.step(X)
        else:
            schedule.step(target=Y)
        return gradients(stage.submod)

    model = Halves().requires_grad_()
    y = model.second(torch.tanh(model.first(X)))
    loss(y, Y).backward()
    first, second = both(use, ranks=2, memory=0.6)
    same(first + second, gradients(model))
