"""Loads, drawn so that the time of a step by another rule is another one: for a check."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random

from lockstep.cost.experts import even_loads

LINK = (16384, 2e-5, 4e-11)  # bytes of a row, alpha, beta
SECONDS = 5e-7
Loads = list[list[int]]
Call = tuple[Loads, int, float, float, float]


def some(K: int, E: int, dice: Random) -> Loads:
    """Drawn so that ranks send and receive differently much."""
    popular = [dice.randint(1, 30) for _ in range(E)]
    return [[dice.randint(0, 20) * n for n in popular] for _ in range(K)]


def timed(loads: Loads, row_bytes: int = LINK[0], alpha: float = LINK[1], beta: float = LINK[2],
          seconds: float = SECONDS) -> Call:  # fmt: skip
    return loads, row_bytes, alpha, beta, seconds


def several(experts: int, dice: Random) -> list[Call]:
    return [timed(some(K, experts * K, dice), dice.choice((4096, 16384, 50_000))) for K in (2, 3, 4, 8)]


def one_sends(dice: Random) -> list[Call]:
    """Rank 1 has nearly all rows, and they are for all experts alike; and its own ones are most of them."""
    n = dice.randint(50, 90)
    return [timed([[1, 2, 3], [n, n, n], [0, 1, 0]]), timed([[0, 4, 2, 2], [3, 1, 0, 2], [2, 3, n, n], [1, 0, 0, 2]])]


def alone(dice: Random) -> list[Call]:
    """Of alpha, beta and seconds only one is above 0. And bytes that the ranks don't divide, by a third each."""
    loads = some(4, 8, dice)
    thirds = timed([[5, 2, 1], [4, 4, 2], [0, 1, 3]], 1, alpha=0, seconds=0)
    return [timed(loads, beta=0, seconds=0), timed(loads, alpha=0, seconds=0), timed(loads, alpha=0, beta=0), thirds]


TRIED: dict[str, list[Call] | Callable[[Random], list[Call]]] = {
    "an expert for each rank": partial(several, 1),
    "three experts for each rank": partial(several, 3),
    "even loads": [timed(even_loads(K, E, 120)) for K, E in ((2, 2), (4, 12), (8, 8))],
    "one expert that all rows are for": [timed([[0, n] for n in (40, 9)]), timed([[30, 0, 0, 0]] * 4)],
    "a rank that has most of the rows": one_sends,
    "ranks without rows": [timed([[0, 0], [7, 5]]), timed([[0, 0, 9], [0, 0, 0], [0, 0, 4]]), timed([[0] * 4] * 4)],
    "one cost at a time": alone,
    "one rank": [timed([[5, 2, 9]]), timed([[12]])],
}
