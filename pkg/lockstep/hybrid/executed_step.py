"""A training step on a grid, executed in full by every rank: what ``simulate_step`` must be equal to."""

from __future__ import annotations

import time
from typing import NamedTuple

import torch.distributed as dist

from lockstep.events import Memory
from lockstep.hybrid.grid import GPTSize, Grid, check
from lockstep.hybrid.worker import GridWorker, groups_of
from lockstep.pipeline.schedules import stream
from lockstep.residency import peak_of


class Executed(NamedTuple):
    """Of a rank: when the step began and ended, in seconds since the run's beginning, and its memory in the step."""

    begin: float
    end: float
    memory: Memory
    loss: float | None


def training_step(
    model: GPTSize,
    grid: Grid,
    chunks: int = 1,
    micro_batches: int = 1,
    schedule: str = "interleaved",
    fake: bool = True,
) -> Executed:
    """For ``run(training_step, ..., ranks=grid.ranks)``: build the model, then one step. ``fake``: without data there
    is no loss."""
    check(model, grid, chunks, micro_batches, schedule, alike=False)
    worker = GridWorker(model, grid, chunks, groups_of(grid))
    plan = stream(schedule, worker.stage, grid.pp, micro_batches, chunks)
    dist.barrier()
    begin = time.perf_counter()
    with peak_of() as memory:
        loss = worker.train(plan, micro_batches)
        end = time.perf_counter()
        return Executed(begin, end, memory(), None if fake or loss is None else loss.item())
