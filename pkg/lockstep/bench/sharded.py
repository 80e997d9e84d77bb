"""The course's FullySharded against torch's fully_shard: a training step each, on processes and gloo, a unit a layer.

Ours is Python throughout, and overlaps communication with computation; on CPU torch's waits at once for what it sends.
gloo carries the messages in both. The same model takes turns: a step of ours, one of torch's, and one of a rank that
holds the whole model and does not communicate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from lockstep.bench.table import Row, Table
from lockstep.bench.timing import Size
from lockstep.bench.training_steps import Steps, by_size, compared, steps_of
from lockstep.models import mlp, parameters_of
from lockstep.sharded.fsdp import FullySharded


class Case(NamedTuple):
    """A network of linear layers of one width, and a batch for each rank."""

    width: int
    layers: int
    examples: int

    @property
    def model(self) -> nn.Sequential:
        return mlp([self.width] * (self.layers + 1))


SMALL, MANY, LARGE = Case(64, 8, 16), Case(128, 40, 32), Case(1024, 6, 64)
CASES = by_size(quick=(SMALL,), otherwise=(SMALL, MANY, LARGE))


def tables(size: Size) -> list[Table]:
    title = "sharded: a training step of {ranks} ranks, FullySharded beside fully_shard"
    return compared(size, title, CASES[size], columns, steps)


def columns(case: Case) -> Row:
    return {"layers": f"{case.layers} of {case.width}", "parameters": parameters_of(case.model)}


def steps(case: Case) -> Steps:
    models: Mapping[str, Callable[[], nn.Module]] = {
        "ours": lambda: FullySharded(iter(case.model)),
        "torch's": lambda: in_torchs(case),
        "whole": lambda: case.model,
    }
    return steps_of(models, lambda: (case.examples, case.width))


def in_torchs(case: Case) -> nn.Module:
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    model = case.model
    for layer in model:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    return model
