"""The course's FullySharded beside torch's fully_shard: a training step each, on processes and gloo, a unit a layer.

Ours is Python throughout, and hides transfers behind computation; on CPU torch's waits at once for what it sends. The
transfers are gloo's in both. As in `bench.ddp` the same model takes turns: a step of ours, one of torch's, one of a
rank that holds the whole model and talks to nobody.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import NamedTuple

import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from lockstep.bench.ddp import RANKS, REPEATS, Models, Seconds, on_processes
from lockstep.bench.table import Row, Table
from lockstep.bench.timing import Size
from lockstep.launch.host import cores
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
    found = {case: measured(case, ranks, REPEATS[size]) for case in CASES[size]}
    notes = [
        f"Medians of {REPEATS[size]} steps, in turn: the slowest rank's time. Ratio: the median over the turns, of a "
        "step of ours by the step of torch's beside it; or of the two least times. At most 1.5 is wanted.",
    ]
    if ranks > cores().usable:
        notes.append(f"{ranks} ranks share {cores().usable} cores: waiting for a turn of a core is in these times.")
    title = f"sharded: a training step of {ranks} ranks, FullySharded beside fully_shard"
    return Table(title, [row(case, seconds) for case, seconds in found.items()], notes)


def row(case: Case, found: Seconds) -> Row:
    ours, theirs = found["ours"], found["torch's"]
    return {
        "layers": f"{case.layers} of {case.width}",
        "parameters": parameters_of(case.model),
        "ours [ms]": median(ours) * 1e3,
        "torch's [ms]": median(theirs) * 1e3,
        "whole [ms]": median(found["whole"]) * 1e3,
        "ratio to torch's": median(a / b for a, b in zip(ours, theirs, strict=True)),
        "least's ratio": min(ours) / min(theirs),
    }


def measured(case: Case, ranks: int, repeats: int) -> Seconds:
    return on_processes(wrapped(case), (case.examples, case.width), ranks, repeats)


def wrapped(case: Case) -> Models:
    return {
        "ours": lambda: FullySharded(iter(case.model)),
        "torch's": lambda: in_torchs(case),
        "whole": lambda: case.model,
    }


def in_torchs(case: Case) -> nn.Module:
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    model = case.model
    for layer in model:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    return model
