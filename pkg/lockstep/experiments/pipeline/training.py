"""One training step of a flat MLP, in each of the ways that the unit compares.

For ``run(step, way, ...)``, and with ``fake=True`` at any size, since the worker needs no data.

    one rank           the whole model, the whole batch
    data parallelism   the whole model on every rank, a share of the batch on each
    a schedule's name  a share of the model on every rank, the whole batch through all of them
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F

from lockstep.data_parallel.sgd import average_gradients, training_step
from lockstep.pipeline.schedules import stream
from lockstep.pipeline.stages import cuts
from lockstep.pipeline.worker import PipelineWorker
from lockstep.worlds import Result, run

ALONE, DATA = "one rank", "data parallelism"


@dataclass(frozen=True)
class Flat:
    """``layers`` linear layers of ``width``, with ReLU after each; a batch in micro-batches."""

    layers: int = 8
    width: int = 4096
    batch: int = 2048
    micro_batches: int = 16

    def chunk(self, layers: int) -> nn.Sequential:
        return nn.Sequential(*[m for _ in range(layers) for m in (nn.Linear(self.width, self.width), nn.ReLU())])

    @property
    def activation_bytes(self) -> int:
        """A: the bytes of one layer's output for one micro-batch."""
        return 4 * self.batch // self.micro_batches * self.width

    @property
    def parameter_bytes(self) -> int:
        """The bytes of all parameters."""
        return 4 * self.layers * (self.width**2 + self.width)


def executed(way: str, ranks: int, flat: Flat = Flat()) -> Result:
    """A step on ``ranks`` simulated A100, without data."""
    return _executed(way, ranks, flat)


@cache  # always called with all arguments: an omitted one would be a separate entry
def _executed(way: str, ranks: int, flat: Flat) -> Result:
    return run(step, way, flat, ranks=ranks, on="dgx-a100", fake=True)


def speedup(way: str, ranks: int, micro_batches: int = 16) -> float:
    """The speedup over the whole model on one A100, with the same batch."""
    return executed(ALONE, 1).time / executed(way, ranks, Flat(micro_batches=micro_batches)).time


def step(way: str, flat: Flat = Flat(), group: dist.ProcessGroup | None = None) -> None:
    """Runs on each rank of ``group``. With a single rank every way is the same."""
    if way in (ALONE, DATA):
        model = flat.chunk(flat.layers)
        sgd = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
        if way == ALONE:  # nothing is averaged: that would copy all gradients
            F.mse_loss(model(batch(flat.batch, flat)), batch(flat.batch, flat)).backward()  # type: ignore[no-untyped-call]
            sgd.step()
            return
        share = flat.batch // dist.get_world_size(group)
        training_step(model, sgd, F.mse_loss, batch(share, flat), batch(share, flat), group)
    else:
        pipelined(way, flat, group)


def pipelined(
    schedule: str,
    flat: Flat,
    group: dist.ProcessGroup | None = None,
    chunks: int = 1,
    replicas: dist.ProcessGroup | None = None,
) -> None:
    """One step of a pipeline. ``chunks``: for "interleaved". ``replicas``, for several pipelines: ranks with the same
    stage, which average their gradients before each update; ``flat.batch`` is the batch of one pipeline."""
    stage, stages = dist.get_rank(group), dist.get_world_size(group)
    parts = cuts(flat.layers, stages * chunks)
    mine = [flat.chunk(len(parts[c * stages + stage])) for c in range(chunks)]
    sgd = torch.optim.SGD([p for module in mine for p in module.parameters()], lr=0.01, momentum=0.9)
    if replicas is not None:
        parameters = [p for module in mine for p in module.parameters()]
        sgd.register_step_pre_hook(lambda *_: average_gradients(parameters, flat.batch, replicas))
    worker = PipelineWorker(mine, [(flat.width,)] * chunks, F.mse_loss, sgd, group)
    m, size = flat.micro_batches, flat.batch // flat.micro_batches
    inputs = [batch(size, flat) for _ in range(m)] if stage == 0 else []
    targets = [batch(size, flat) for _ in range(m)] if stage == stages - 1 else []
    worker.step(stream(schedule, stage, stages, m, chunks), [size] * m, inputs, targets)


def batch(examples: int, flat: Flat) -> torch.Tensor:
    return torch.ones(examples, flat.width)
