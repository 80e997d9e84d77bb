"""The course's BucketedDDP against torch's DistributedDataParallel: a training step each, on processes and gloo.

Ours launches its all-reduces from Python's hooks, torch's from C++; gloo carries them in both. The same model takes
turns: a step of ours, one of torch's, and one of a rank that does not communicate: the cost of computing alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from torch import nn
from torch.nn.parallel import DistributedDataParallel

from lockstep.bench.table import Row, Table, size_of
from lockstep.bench.timing import Size
from lockstep.bench.training_steps import RATIO, Steps, by_size, compared, steps_of
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


SMALL, MANY, LARGE = Case(64, 8, 16, 2**14), Case(128, 40, 32, 2**18), Case(1024, 6, 64, 2**22)
CASES = by_size(quick=(SMALL,), otherwise=(SMALL, MANY, LARGE))


def tables(size: Size) -> list[Table]:
    title = "ddp: a training step of {ranks} ranks on this machine"
    return compared(size, title, CASES[size], columns, steps, [f"Alone: a step without the others. {RATIO}"])


def columns(case: Case) -> Row:
    return {
        "layers": f"{case.layers} of {case.width}",
        "gradients": size_of(4 * parameters_of(case.model)),
        "bucket": size_of(case.bucket_bytes),
    }


def steps(case: Case) -> Steps:
    models: Mapping[str, Callable[[], nn.Module]] = {
        "ours": lambda: BucketedDDP(case.model, case.bucket_bytes),
        "torch's": lambda: DistributedDataParallel(case.model, bucket_cap_mb=case.bucket_bytes / MEGABYTE),
        "alone": lambda: case.model,
    }
    return steps_of(models, lambda: (case.examples, case.width))
