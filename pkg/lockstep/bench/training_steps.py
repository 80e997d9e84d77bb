"""Training steps of the course and of torch, compared on real processes: one of ours, one of torch's, and one of a rank
that computes alone, in turn.

Ranks meet before each step, and the slowest one counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import median
from typing import TypeVar

import torch
import torch.distributed as dist
from torch import nn

from lockstep.bench.on_processes import RANKS, by_rank, crowded, slowest
from lockstep.bench.table import Row, Table
from lockstep.bench.timing import Size

REPEATS: Mapping[Size, int] = {"quick": 2, "normal": 31, "full": 101}
WARM = 3  # steps of each before it counts: torch arranges buckets and asks for shapes in its first ones
RATIO = (
    "Ratio: the median over the turns, of a step of ours by the step of torch's beside it; or of the two least times."
)
WANTED = f"{RATIO} At most 1.5 is wanted."

Step = Callable[[], None]
Steps = Mapping[str, Callable[[], Step]]  # by name, what makes the step on a rank: "ours", "torch's" and another
Seconds = dict[str, list[float]]  # of each step, by whose it is
Case = TypeVar("Case")


def by_size(quick: Sequence[Case], otherwise: Sequence[Case]) -> Mapping[Size, Sequence[Case]]:
    """The cases of each size of a benchmark."""
    return {"quick": quick, "normal": otherwise, "full": otherwise}


def compared(
    size: Size,
    title: str,
    cases: Sequence[Case],
    columns: Callable[[Case], Row],
    steps: Callable[[Case], Steps],
    notes: Sequence[str] = (WANTED,),
    repeats: Mapping[Size, int] = REPEATS,
) -> list[Table]:
    """A table for each number of ranks, which ``title`` has a place for. Each case is a row: its ``columns``, and the
    times of its ``steps``."""
    taken = f"Medians of {repeats[size]} steps, in turn: the slowest rank's time."
    first, *others = notes
    return [
        Table(
            title.format(ranks=ranks),
            [{**columns(case), **times(measured(steps(case), ranks, repeats[size]))} for case in cases],
            [f"{taken} {first}", *others, *crowded(ranks)],
        )
        for ranks in RANKS[size]
    ]


def measured(steps: Steps, ranks: int, repeats: int) -> Seconds:
    """The seconds of all steps, on processes."""
    return slowest(by_rank(in_turns, (steps, repeats), ranks))


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


def steps_of(models: Mapping[str, Callable[[], nn.Module]], shape: Callable[[], tuple[int, ...]]) -> Steps:
    """SGD on each of ``models``. ``shape``: of a rank's batch, called there."""
    return {name: partial(sgd_step, build, shape) for name, build in models.items()}


def sgd_step(build: Callable[[], nn.Module], shape: Callable[[], tuple[int, ...]]) -> Step:
    x = torch.randn(shape(), generator=torch.Generator().manual_seed(dist.get_rank()))
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
