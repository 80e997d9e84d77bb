"""The course's pipeline against torch.distributed.pipelining: a training step each, on processes and gloo.

Both are Python, and gloo carries the messages in both. The same stages take turns: a step of ours, one of torch's with
the same schedule, and one of ranks that have the whole model, which is the cost of computing alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn import functional as F

from lockstep.bench.table import Row, Table
from lockstep.bench.timing import Size
from lockstep.bench.training_steps import RATIO, Step, Steps, by_size, compared
from lockstep.experiments.pipeline.compared_with_torch import torchs_step
from lockstep.pipeline.schedules import stream
from lockstep.pipeline.stages import chunk, chunks_of_stage
from lockstep.pipeline.worker import PipelineWorker


class Case(NamedTuple):
    """A schedule; a network of linear layers of one width, so many on each chunk; examples of a micro-batch."""

    schedule: str
    width: int
    layers: int
    micro_batches: int
    examples: int
    chunks: int = 1

    def widths(self, ranks: int) -> list[int]:
        return [self.width] * (self.layers * ranks * self.chunks + 1)

    def __str__(self) -> str:
        return f"{self.schedule}, v = {self.chunks}" if self.chunks > 1 else self.schedule


REPEATS: Mapping[Size, int] = {"quick": 2, "normal": 15, "full": 101}
SMALL = [Case("gpipe", 64, 2, 8, 16), Case("one_f_one_b", 64, 2, 8, 16), Case("interleaved", 64, 2, 8, 16, 2)]
LARGE = [Case("gpipe", 512, 4, 8, 64), Case("one_f_one_b", 512, 4, 8, 64), Case("interleaved", 512, 4, 8, 64, 2)]
CASES = by_size(quick=SMALL[1:2], otherwise=SMALL + LARGE)
ALONE = "Alone: each rank has the whole model and the whole batch."


def tables(size: Size) -> list[Table]:
    title = "pipeline: a training step of {ranks} stages on this machine"
    return compared(size, title, CASES[size], columns, steps, [f"{ALONE} {RATIO}"], REPEATS)


def columns(case: Case) -> Row:
    return {"schedule": str(case), "layers": f"{case.layers * case.chunks} of {case.width}"}


def steps(case: Case) -> Steps:
    return {"ours": partial(ours, case), "torch's": partial(torchs, case), "alone": partial(alone, case)}


def ours(case: Case) -> Step:
    stage, stages = dist.get_rank(), dist.get_world_size()
    chunks, shapes = chunks_of_stage(case.widths(stages), stage, stages, case.chunks)
    sgd = torch.optim.SGD([p for module in chunks for p in module.parameters()], lr=0.01)
    worker, (x, target) = PipelineWorker(chunks, shapes, F.mse_loss, sgd), batch(case)
    todo = stream(case.schedule, stage, stages, case.micro_batches, case.chunks)
    sizes = [case.examples] * case.micro_batches

    def step() -> None:
        worker.step(todo, sizes, torch.split(x, case.examples), torch.split(target, case.examples))

    return step


def torchs(case: Case) -> Step:
    stage, stages = dist.get_rank(), dist.get_world_size()
    chunks, _ = chunks_of_stage(case.widths(stages), stage, stages, case.chunks)
    sgd = torch.optim.SGD([p for module in chunks for p in module.parameters()], lr=0.01)
    gradients, (x, target) = torchs_step(case.schedule, chunks, F.mse_loss, case.micro_batches), batch(case)

    def step() -> None:
        sgd.zero_grad()
        gradients(x, target)
        sgd.step()

    return step


def alone(case: Case) -> Step:
    widths = case.widths(dist.get_world_size())
    model, (x, target) = chunk(widths, range(len(widths) - 1)), batch(case)
    sgd = torch.optim.SGD(model.parameters(), lr=0.01)

    def step() -> None:
        sgd.zero_grad()
        F.mse_loss(model(x), target).backward()  # type: ignore[no-untyped-call]
        sgd.step()

    return step


def batch(case: Case) -> tuple[Tensor, Tensor]:
    shape = (case.examples * case.micro_batches, case.width)
    drawn = torch.Generator().manual_seed(0)
    return torch.randn(shape, generator=drawn), torch.randn(shape, generator=drawn)
