"""The course's FullySharded beside torch's fully_shard: a training step each, on processes and gloo, a unit a layer.

Ours is Python throughout, and hides transfers behind computation; on CPU torch's waits at once for what it sends. The
transfers are gloo's in both. As in `bench.ddp` the same model takes turns: a step of ours, one of torch's, one of a
rank that holds the whole model and talks to nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from lockstep.bench.ddp import REPEATS
from lockstep.bench.table import Row, Table
from lockstep.bench.timing import Size
from lockstep.bench.turns import RANKS, RATIO, Seconds, Steps, crowded, measured, steps_of, times
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
CASES: Mapping[Size, tuple[Case, ...]] = {
    "quick": (SMALL,),
    "normal": (SMALL, MANY, LARGE),
    "full": (SMALL, MANY, LARGE),
}


def tables(size: Size) -> list[Table]:
    return [table(ranks, size) for ranks in RANKS[size]]


def table(ranks: int, size: Size) -> Table:
    rows = [row(case, measured(wrapped(case), ranks, REPEATS[size])) for case in CASES[size]]
    notes = [
        f"Medians of {REPEATS[size]} steps, in turn: the slowest rank's time. {RATIO} At most 1.5 is wanted.",
    ]
    title = f"sharded: a training step of {ranks} ranks, FullySharded beside fully_shard"
    return Table(title, rows, notes + crowded(ranks))


def row(case: Case, found: Seconds) -> Row:
    size: Row = {"layers": f"{case.layers} of {case.width}", "parameters": parameters_of(case.model)}
    return {**size, **times(found)}


def wrapped(case: Case) -> Steps:
    models: Mapping[str, Callable[[], nn.Module]] = {
        "ours": lambda: FullySharded(iter(case.model)),
        "torch's": lambda: in_torchs(case),
        "whole": lambda: case.model,
    }
    return steps_of(models, (case.examples, case.width))


def in_torchs(case: Case) -> nn.Module:
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    model = case.model
    for layer in model:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    return model
