"""Training steps that take turns on real processes: one of ours, one of torch's beside it, and one that computes alone.

Nothing is recorded meanwhile: recording costs time. Ranks meet before each step, and the slowest one counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import median

import torch
import torch.distributed as dist
from torch import nn

from lockstep.bench.table import Row
from lockstep.bench.timing import Size
from lockstep.launch import processes
from lockstep.launch.job import Job
from lockstep.this_machine.host import cores

RANKS: Mapping[Size, tuple[int, ...]] = {"quick": (2,), "normal": (2, 4), "full": (2, 4, 8)}
WARM = 3  # steps of each before it counts: torch arranges buckets and asks for shapes in its first ones
RATIO = (
    "Ratio: the median over the turns, of a step of ours by the step of torch's beside it; or of the two least times."
)

Step = Callable[[], None]
Steps = Mapping[str, Callable[[], Step]]  # by name, who makes the step on a rank: "ours", "torch's" and another
Seconds = dict[str, list[float]]  # by who took the step


def measured(steps: Steps, ranks: int, repeats: int) -> Seconds:
    """All steps of each, on processes."""
    job = Job.pack(in_turns, (steps, repeats), {}, ranks, timeout=600.0, record=False)
    return slowest(processes.run_processes(job).values)


def in_turns(steps: Steps, repeats: int) -> Seconds:
    """On a rank: seconds of each step, ``repeats`` times over; A B C, C B A."""
    made = {name: make() for name, make in steps.items()}
    found: Seconds = {name: [] for name in made}
    for turn in range(WARM + repeats):
        for name in list(made)[:: -1 if turn % 2 else 1]:
            dist.barrier()
            begin = time.perf_counter()
            made[name]()
            if turn >= WARM:
                found[name].append(time.perf_counter() - begin)
    return found


def slowest(by_rank: Sequence[Seconds]) -> Seconds:
    """A step is done when its slowest rank is."""
    return {name: list(map(max, zip(*(of_rank[name] for of_rank in by_rank), strict=True))) for name in by_rank[0]}


def steps_of(models: Mapping[str, Callable[[], nn.Module]], shape: tuple[int, ...]) -> Steps:
    """SGD on each of ``models``, with a batch of that shape on each rank."""
    return {name: partial(sgd_step, build, shape) for name, build in models.items()}


def sgd_step(build: Callable[[], nn.Module], shape: tuple[int, ...]) -> Step:
    x = torch.randn(shape, generator=torch.Generator().manual_seed(dist.get_rank()))
    model = build()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step() -> None:
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()

    return step


def times(found: Seconds) -> Row:
    """The columns of a row: medians in milliseconds, and how ours compares with torch's."""
    ours, theirs = found["ours"], found["torch's"]
    return {
        **{f"{name} [ms]": median(seconds) * 1e3 for name, seconds in found.items()},
        "ratio to torch's": median(a / b for a, b in zip(ours, theirs, strict=True)),
        "least's ratio": min(ours) / min(theirs),
    }


def crowded(ranks: int) -> list[str]:
    """What is to be said where ranks share cores."""
    if ranks <= cores().usable:
        return []
    return [f"{ranks} ranks share {cores().usable} cores: waiting for a turn of a core is in these times."]
