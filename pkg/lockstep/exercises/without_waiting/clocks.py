"""Gradients that count: the server's last w is the minutes of the whole run, whatever world it was in.

Row r - 1 of w is worker r's. Each gradient is whole numbers:

    its first element      1: how many updates of this worker a w has. The first column of a w is a vector clock.
    one part for a step    the vector clock of the w on which it was computed, + 1
    all others             0
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from lockstep.checks.case import DTYPES, Case, generator
from lockstep.checks.wording import counted, listed

RATE = 0.5
SLOW = 0.05  # seconds of a slow worker's gradient; on the virtual cluster virtual ones, that pass at once


@dataclass
class Counting:
    """``gradient(w, step)`` of worker ``row`` + 1."""

    start: Tensor
    rate: float
    row: int
    seconds: float

    def __call__(self, w: Tensor, step: int) -> Tensor:
        time.sleep(self.seconds)
        clock = (self.start - w)[:, 0] / self.rate
        g = torch.zeros_like(self.start)
        g[self.row, 0] = 1
        part = g[self.row, 1:].view(-1, len(g))
        if 0 <= step < len(part):
            part[step] = clock + 1
        return g


class Begun(NamedTuple):
    """A step of worker ``who``, and how many updates of each worker the w had with which it began."""

    who: int
    step: int
    clock: list[float] | None  # None if no such gradient has reached the server


def case_of(
    ranks: int, seed: int, steps: Sequence[int], bound: int = 0, slow: int = 0, dtype: str = "float32",
    group: tuple[int, ...] | None = None,
) -> Case:  # fmt: skip
    """``steps``: of worker 1, 2 ...; ``slow``: which of them takes long."""
    told = [f"the group {list(group)} of {ranks} ranks" if group else counted(ranks, "rank")]
    told += [f"bound={bound:,}", f"{listed(steps)} steps"] if steps else []
    told += [f"worker {slow} slow"] if slow else []
    told += [dtype] if dtype != "float32" else []
    settings = {"steps": list(steps), "bound": bound, "slow": slow, "dtype": dtype, "told": ", ".join(told)}
    return Case(ranks, seed, group, settings | {"trivial": ranks == 1})


def start(case: Case) -> Tensor:
    """w to begin with: numbers that need their dtype."""
    rows, dtype = max(2, case.size - 1), DTYPES[case.settings["dtype"]]  # one row would take a flat gradient, too
    shape = (rows, 1 + rows * max(case.settings["steps"], default=1))
    w = torch.randint(-40, 40, shape, generator=generator(case, -1)).to(dtype) / 4
    return w + 2.0**40 if dtype == torch.float64 else w


def inputs(case: Case, rank: int) -> tuple[Counting, Tensor, int | None, float, int]:
    seat = case.members.index(rank) if rank in case.members else 0
    w, slow = start(case), seat and seat == case.settings["slow"]
    counting = Counting(start(case), RATE, seat - 1, SLOW if slow else 0.0)
    steps = case.settings["steps"][seat - 1] if seat else None
    return counting, w, steps, RATE, case.settings["bound"]


def updates(case: Case, w: Tensor) -> list[float]:
    """How many gradients of each worker this w has."""
    found: list[float] = ((start(case) - w)[:, 0] / RATE).tolist()
    return found[: case.size - 1]


def begun(case: Case, w: Tensor) -> Iterator[Begun]:
    """What the last w tells of each step, in the order of workers and steps."""
    minutes, workers = (start(case) - w) / RATE, case.size - 1
    for row, steps in enumerate(case.settings["steps"]):
        part = minutes[row, 1:].view(-1, len(minutes))[:, :workers]
        for step in range(steps):
            yield Begun(row + 1, step, (part[step] - 1).tolist() if part[step].any() else None)
