"""A vector clock in place of a model: gradients that count, so that each w shows whose updates it contains, and how
many.

    w with which worker 2 begins its step 2     [[0, …], [2, …], [1, …]]·(-rate) more than the start
    updates that are in it                       none of worker 1, two of worker 2, one of worker 3

It shows whether a server kept to bounded staleness, and whether what it sent was old; the times of the gradients show
whether anybody waited without need.
Source of the clocks: F. Mattern, Virtual Time and Global States of Distributed Systems, 1989; C. Fidge, 1988.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor

Facts = dict[str, Any]


class Step(NamedTuple):
    """One gradient of a worker."""

    step: int  # the number that was asked for
    begin: float  # seconds
    end: float
    clock: list[float]  # how many updates of worker 1, 2 … the w had
    intact: bool = True  # whether the numbers of w are there that no update changes


@dataclass
class Counting:
    """``gradient(w, step)`` of worker ``who``, of 1, 2 …: row who - 1 is (1, step, 0), all others are 0. It takes
    ``seconds``, virtual ones on a virtual cluster. ``start``: the first w, of (workers, 3) numbers."""

    start: Tensor
    rate: float
    who: int
    seconds: float = 0.0
    asked: list[Step] = field(default_factory=list)

    def __call__(self, w: Tensor, step: int) -> Tensor:
        begin, clock = time.perf_counter(), updates(self.start, w, self.rate)
        time.sleep(self.seconds)
        intact = w.shape == self.start.shape and torch.equal(w[:, 2], self.start[:, 2])
        self.asked.append(Step(int(step), begin, time.perf_counter(), clock, intact))
        g = torch.zeros_like(self.start)
        g[self.who - 1, :2] = torch.tensor([1.0, step])
        return g


def updates(start: Tensor, w: Tensor, rate: float) -> list[float]:
    """How many gradients of worker 1, 2 … are in w; -1 where w is no number."""
    found: list[float] = ((start - w) / rate)[:, 0].nan_to_num(nan=-1).tolist()
    return found


def after(start: Tensor, steps: Sequence[int], rate: float) -> Tensor:
    """w with all updates of workers that take so many ``steps``."""
    w = start.clone()
    for who, n in enumerate(steps):
        w[who, :2] -= rate * torch.tensor([n, sum(range(n))])
    return w


def of_ranks(ranks: Sequence[Sequence[Step]], steps: Sequence[int], have: Sequence[float]) -> Iterator[Facts]:
    """For the server, which is rank 0, and each worker: of which steps it has "asked" gradients, the "steps" that
    it takes, their "number", and how many of its updates the last w has."""
    for who, (asked, n, found) in enumerate(zip(ranks, [0, *steps], [0, *have], strict=True)):
        yield {"who": who, "asked": [step.step for step in asked], "steps": list(range(n)), "number": n, "have": found}


def of_steps(workers: Sequence[Sequence[Step]], bound: float, pause: float) -> Iterator[Facts]:
    """For each step of each worker, and each worker's updates, in a run with that ``bound``:

    "done"    how many updates of worker "other" (or its "own") the w had with which worker "who" began its "step"
    "needed"  how many it must have: all of its own, and by the bound those of the others
    "made"    how many there were in the w of a step that began earlier, by more than ``pause``
    "late"    whether one of them was computed more than ``pause`` after all that are needed: the step waited for it

    ``pause`` is in seconds: longer than a message takes, shorter than a gradient.
    """
    first = min((step.begin for of_worker in workers for step in of_worker), default=0.0)

    def ready(other: int, number: float) -> float:
        """When so many gradients of that worker had been computed."""
        return max((step.end for step in workers[other][: max(0, int(number))]), default=first)

    for who, of_worker in enumerate(workers):
        for c, now in enumerate(of_worker):
            needed = [c if other == who else max(0, min(len(own), c - bound)) for other, own in enumerate(workers)]
            allowed = max(ready(other, number) for other, number in enumerate(needed))
            before = [step.clock for own in workers for step in own if step.begin < now.begin - pause]
            for other, done in enumerate(now.clock):
                yield {
                    "who": who + 1, "step": c, "other": other + 1, "own": who == other,
                    "done": done, "needed": needed[other], "made": max((clock[other] for clock in before), default=0),
                    "intact": now.intact, "bound": bound,
                    "late": done > needed[other] and ready(other, done) > allowed + pause,
                }  # fmt: skip
