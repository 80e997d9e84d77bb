"""Speedup against workers by Amdahl and by Gustafson, with measured points: the model behind the figure.

The formulas are those of ``lockstep.cost.speedup``; nothing is computed twice.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from lockstep.cost.speedup import amdahl, gustafson, most_speedup
from lockstep.errors import UsageError

MOST = 4096  # workers at the right end of the axis
SHARES = (0.0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 0.9999, 1.0)
WORKERS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096)

Point = tuple[float, float]  # workers, speedup


@dataclass(frozen=True)
class Speedups:
    """What is shown: the parallel fraction ``p``, a number of ``workers`` to look at, and measured ``points``."""

    p: float
    workers: int
    points: tuple[Point, ...] = ()
    points_are: str = "measured"
    curve_is: str = ""  # whose p this is, if it is not just one to play with

    def __post_init__(self) -> None:
        if not 0 <= self.p <= 1:
            raise UsageError(f"The parallel fraction is a share from 0 to 1, not {self.p}.", "Write 0.95 for 95 %.")
        if not 1 <= self.workers <= MOST:
            raise UsageError(f"Speedups are drawn for 1 to {MOST:,} workers, not {self.workers}.")
        for s, speedup in self.points:
            if not (1 <= s <= MOST and 0 < speedup < math.inf):
                raise UsageError(f"A point needs 1 to {MOST:,} workers and a speedup above 0, not {s} and {speedup}.")

    @cached_property
    def most(self) -> float:
        """Where the axis of workers ends: a power of two that holds everything with some room."""
        largest = max([16.0, 2.0 * self.workers, *(2 * s for s, _ in self.points)])
        return float(min(MOST, 2 ** math.ceil(math.log2(largest))))

    @cached_property
    def axis(self) -> tuple[float, ...]:
        return tuple(self.most ** (i / 96) for i in range(97))

    def by_amdahl(self, s: float) -> float:
        return amdahl(self.p, s)

    def by_gustafson(self, s: float) -> float:
        return gustafson(self.p, s)

    @property
    def limit(self) -> float:
        return most_speedup(self.p)

    @property
    def idle(self) -> float:
        """The share of all workers' time in which they stand still, by Amdahl."""
        return 1 - self.by_amdahl(self.workers) / self.workers


def speedups_of(times: Mapping[int, float]) -> tuple[Point, ...]:
    """``{workers: seconds}`` as (workers, speedup): the seconds of one worker divided by each."""
    if times and 1 not in times:
        raise UsageError("A speedup compares with one worker, and there is no time for 1.", "Measure one worker, too.")
    if not all(0 < t < math.inf for t in times.values()):
        raise UsageError("Each time must be above 0 seconds, and finite.", "Measure again.")
    return tuple((float(s), times[1] / t) for s, t in sorted(times.items()))


def nearest(choices: Sequence[float], value: float) -> list[float]:
    """The stops of a slider: ``choices``, with ``value`` among them."""
    return sorted({*choices, value})


def count(s: float) -> str:
    return "1 worker" if s == 1 else f"{s:,.0f} workers"


def times(value: float) -> str:
    """A factor, with three digits that count."""
    return f"{value:,.0f} times" if value >= 100 else f"{value:.3g} times"
