"""The time of an all-reduce against the size of its message, by algorithm, and where the curves cross.

The formulas are those of ``lockstep.cost.algorithms``; nothing is computed twice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations, pairwise

from lockstep.cost.algorithms import all_reduces
from lockstep.errors import UsageError

NAMES = {
    "star": "star",
    "binary_tree": "binary tree",
    "binomial_tree": "tree",
    "naive": "naive",
    "unchunked_ring": "ring, not cut",
    "ring": "ring",
    "recursive_doubling": "recursive doubling",
    "halving_doubling": "halving-doubling",
}
USUAL = ("star", "binomial_tree", "ring", "halving_doubling")
POINTS = 33


@dataclass(frozen=True)
class Crossing:
    """Below ``nbytes`` ``below`` is faster, above it ``above``; there both take ``seconds``."""

    nbytes: float
    seconds: float
    below: str
    above: str
    is_cheapest: bool  # no other curve that is drawn is lower there


@dataclass(frozen=True)
class Costs:
    """What is shown: alpha in seconds a message, beta in seconds a byte, sizes from ``low`` to ``high`` bytes."""

    alpha: float
    beta: float
    ranks: int
    low: float = 1.0
    high: float = 1e9
    algorithms: tuple[str, ...] = USUAL

    def __post_init__(self) -> None:
        if not (math.isfinite(self.alpha) and math.isfinite(self.beta) and min(self.alpha, self.beta) > 0):
            raise UsageError(f"alpha and beta are seconds above zero, not {self.alpha} and {self.beta}.")
        if not 2 <= self.ranks <= 4096:
            raise UsageError(f"Costs are drawn for 2 to 4,096 ranks, not {self.ranks}.")
        if not 1 <= self.low < self.high <= 1e15:
            raise UsageError(f"Sizes go from 1 byte or more up to 1e15, not from {self.low:g} to {self.high:g}.")
        unknown = [a for a in self.algorithms if a not in NAMES]
        if unknown or not self.algorithms:
            raise UsageError(f"There is no all-reduce {', '.join(unknown)!r}.", f"Choose among: {', '.join(NAMES)}.")

    @cached_property
    def drawn(self) -> tuple[str, ...]:
        """The algorithms that work for so many ranks."""
        return tuple(a for a in self.algorithms if a in all_reduces(self.ranks))

    @cached_property
    def missing(self) -> tuple[str, ...]:
        return tuple(a for a in self.algorithms if a not in self.drawn)

    @cached_property
    def sizes(self) -> tuple[float, ...]:
        ratio = self.high / self.low
        return tuple(self.low * ratio ** (i / (POINTS - 1)) for i in range(POINTS))

    def seconds(self, algorithm: str, nbytes: float) -> float:
        return self._formulas[algorithm](nbytes)

    @cached_property
    def _formulas(self) -> dict[str, Callable[[float], float]]:
        """Every curve is a straight line in n, but log-log axes bend it: two exact values give it everywhere."""
        table = all_reduces(self.ranks)
        found: dict[str, Callable[[float], float]] = {}
        for name in self.drawn:
            fixed = table[name](0, self.ranks, self.alpha, self.beta).seconds
            unit = 10**9  # a size at which no rounding to whole bytes matters
            slope = (table[name](unit, self.ranks, self.alpha, self.beta).seconds - fixed) / unit
            found[name] = partial(_line, fixed, slope)
        return found

    def curve(self, algorithm: str) -> tuple[float, ...]:
        return tuple(self.seconds(algorithm, n) for n in self.sizes)

    def cheapest(self, nbytes: float) -> tuple[str, ...]:
        """The fastest algorithms at this size: more than one where they tie."""
        least = min(self.seconds(a, nbytes) for a in self.drawn)
        return tuple(a for a in self.drawn if self.seconds(a, nbytes) <= least * (1 + 1e-9))

    @cached_property
    def crossings(self) -> tuple[Crossing, ...]:
        """Where two curves cross, from small sizes to large ones. Curves that lie on each other do not cross."""
        found = [c for a, b in combinations(self.drawn, 2) if (c := self._crossing(a, b)) is not None]
        return tuple(sorted(found, key=lambda c: c.nbytes))

    def _crossing(self, a: str, b: str) -> Crossing | None:
        first, last = (self.seconds(a, n) / self.seconds(b, n) - 1 for n in (self.low, self.high))
        if min(abs(first), abs(last)) < 1e-9 or (first < 0) == (last < 0):
            return None
        low, high = self.low, self.high
        for _ in range(80):
            middle = math.sqrt(low * high)
            same_side = (self.seconds(a, middle) < self.seconds(b, middle)) == (first < 0)
            low, high = (middle, high) if same_side else (low, middle)
        below, above = (a, b) if first < 0 else (b, a)
        t = self.seconds(a, low)
        least = min(self.seconds(x, low) for x in self.drawn)
        return Crossing(low, t, below, above, t <= least * (1 + 1e-6))

    def regions(self) -> list[tuple[float, float, tuple[str, ...]]]:
        """(from, to, cheapest) along the axis of sizes."""
        edges = [self.low, *(c.nbytes for c in self.crossings if c.is_cheapest), self.high]
        return [(a, b, self.cheapest(math.sqrt(a * b))) for a, b in pairwise(edges) if b > a]


def _line(fixed: float, slope: float, nbytes: float) -> float:
    return fixed + nbytes * slope


def names(algorithms: Sequence[str]) -> str:
    return " = ".join(NAMES[a] for a in algorithms)
