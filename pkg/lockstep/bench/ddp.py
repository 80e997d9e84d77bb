"""The course's BucketedDDP beside torch's DistributedDataParallel: a training step each, on processes and gloo.

Ours launches its all-reduces from Python's hooks, torch's from C++; the transfers are gloo's in both. The same model
takes turns: a step of ours, one of torch's, one of a rank that talks to nobody, which is what computing alone costs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from torch import nn
from torch.nn.parallel import DistributedDataParallel

from lockstep.bench.table import Row, Table, size_of
from lockstep.bench.timing import Size
from lockstep.bench.turns import RANKS, RATIO, Seconds, Steps, crowded, measured, steps_of, times
from lockstep.data_parallel.ddp import MEGABYTE, BucketedDDP
from lockstep.models import mlp, parameters_of


class Case(NamedTuple):
    """A network of linear layers of one width, a batch for each rank, and the size of a bucket in bytes."""

    width: int
    layers: int
    examples: int
    bucket_bytes: int

    @property
    def model(self) -> nn.Module:
        return mlp([self.width] * (self.layers + 1))


REPEATS: Mapping[Size, int] = {"quick": 2, "normal": 31, "full": 101}
SMALL, MANY, LARGE = Case(64, 8, 16, 2**14), Case(128, 40, 32, 2**18), Case(1024, 6, 64, 2**22)
CASES: Mapping[Size, tuple[Case, ...]] = {
    "quick": (SMALL,),
    "normal": (SMALL, MANY, LARGE),
    "full": (SMALL, MANY, LARGE),
}


def tables(size: Size) -> list[Table]:
    return [table(ranks, size) for ranks in RANKS[size]]


def table(ranks: int, size: Size) -> Table:
    rows = [row(case, measured(wrapped(case), ranks, REPEATS[size])) for case in CASES[size]]
    turns = f"Medians of {REPEATS[size]} steps, in turn: the slowest rank's time."
    notes = [f"{turns} Alone: a step without the others. {RATIO}"]
    return Table(f"ddp: a training step of {ranks} ranks on this machine", rows, notes + crowded(ranks))


def row(case: Case, found: Seconds) -> Row:
    return {
        "layers": f"{case.layers} of {case.width}",
        "gradients": size_of(4 * parameters_of(case.model)),
        "bucket": size_of(case.bucket_bytes),
        **times(found),
    }


def wrapped(case: Case) -> Steps:
    models: Mapping[str, Callable[[], nn.Module]] = {
        "ours": lambda: BucketedDDP(case.model, case.bucket_bytes),
        "torch's": lambda: DistributedDataParallel(case.model, bucket_cap_mb=case.bucket_bytes / MEGABYTE),
        "alone": lambda: case.model,
    }
    return steps_of(models, (case.examples, case.width))
