"""The course's BucketedDDP beside torch's DistributedDataParallel: a training step each, on processes and gloo.

Ours launches its all-reduces from Python's hooks, torch's from C++; the transfers are gloo's in both. The same model
takes turns: a step of ours, one of torch's, one of a rank that talks to nobody, which is what computing alone costs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import NamedTuple

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from lockstep.bench.table import Row, Table, size_of
from lockstep.bench.timing import Size
from lockstep.data_parallel.ddp import MEGABYTE, BucketedDDP
from lockstep.launch import pool
from lockstep.launch.host import cores
from lockstep.launch.job import Job
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


RANKS: Mapping[Size, tuple[int, ...]] = {"quick": (2,), "normal": (2, 4), "full": (2, 4, 8)}
REPEATS: Mapping[Size, int] = {"quick": 2, "normal": 31, "full": 101}
SMALL, MANY, LARGE = Case(64, 8, 16, 2**14), Case(128, 40, 32, 2**18), Case(1024, 6, 64, 2**22)
CASES: Mapping[Size, tuple[Case, ...]] = {
    "quick": (SMALL,),
    "normal": (SMALL, MANY, LARGE),
    "full": (SMALL, MANY, LARGE),
}
WARM = 3  # steps of each before it counts: torch arranges its buckets anew after the first

Seconds = dict[str, list[float]]  # by who took the step
Models = Mapping[str, Callable[[], nn.Module]]


def tables(size: Size) -> list[Table]:
    return [table(ranks, size) for ranks in RANKS[size]]


def table(ranks: int, size: Size) -> Table:
    rows = [row(case, measured(case, ranks, REPEATS[size])) for case in CASES[size]]
    notes = [
        f"Medians of {REPEATS[size]} steps, in turn: the slowest rank's time. Alone: a step without the others. Ratio: "
        "the median over the turns, of a step of ours by the step of torch's beside it; or of the two least times.",
    ]
    if ranks > cores().usable:
        notes.append(f"{ranks} ranks share {cores().usable} cores: waiting for a turn of a core is in these times.")
    return Table(f"ddp: a training step of {ranks} ranks on this machine", rows, notes)


def row(case: Case, found: Seconds) -> Row:
    ours, theirs = found["ours"], found["torch's"]
    return {
        "layers": f"{case.layers} of {case.width}",
        "gradients": size_of(4 * parameters_of(case.model)),
        "bucket": size_of(case.bucket_bytes),
        "ours [ms]": median(ours) * 1e3,
        "torch's [ms]": median(theirs) * 1e3,
        "alone [ms]": median(found["alone"]) * 1e3,
        "ratio to torch's": median(a / b for a, b in zip(ours, theirs, strict=True)),
        "least's ratio": min(ours) / min(theirs),
    }


def measured(case: Case, ranks: int, repeats: int) -> Seconds:
    return on_processes(wrapped(case), (case.examples, case.width), ranks, repeats)


def on_processes(models: Models, shape: tuple[int, int], ranks: int, repeats: int) -> Seconds:
    """All steps of each model, with a batch of that shape on each rank. Nothing is recorded: recording costs time."""
    job = Job.pack(taking_turns, (models, shape, repeats), {}, ranks, timeout=600.0, record=False)
    return slowest(pool.run_processes(job).values)


def taking_turns(models: Models, shape: tuple[int, int], repeats: int) -> Seconds:
    """On a rank: seconds of each step, ``repeats`` times over; A B C, C B A. Ranks meet before each."""
    x = torch.randn(shape, generator=torch.Generator().manual_seed(dist.get_rank()))
    steps = {name: stepper(build(), x) for name, build in models.items()}
    found: Seconds = {name: [] for name in steps}
    for turn in range(WARM + repeats):
        for name in list(steps)[:: -1 if turn % 2 else 1]:
            dist.barrier()
            begin = time.perf_counter()
            steps[name]()
            if turn >= WARM:
                found[name].append(time.perf_counter() - begin)
    return found


def stepper(model: nn.Module, x: torch.Tensor) -> Callable[[], None]:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step() -> None:
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()

    return step


def wrapped(case: Case) -> Models:
    return {
        "ours": lambda: BucketedDDP(case.model, case.bucket_bytes),
        "torch's": lambda: DistributedDataParallel(case.model, bucket_cap_mb=case.bucket_bytes / MEGABYTE),
        "alone": lambda: case.model,
    }


def slowest(by_rank: Sequence[Seconds]) -> Seconds:
    """A step is done when its slowest rank is."""
    return {name: list(map(max, zip(*(of_rank[name] for of_rank in by_rank), strict=True))) for name in by_rank[0]}
