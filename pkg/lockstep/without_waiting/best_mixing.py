"""The fastest gossip that few links allow: which graph, of so many ranks with so many neighbours, has the largest gap?

A *circulant* matrix looks the same from each rank: i averages with i + s and i - s (mod K) for each of some steps s.
Equal weights 1/(n + 1), for itself and n neighbours, make its eigenvalues cosines:

    λ_k = (1 + sum of 2·cos(2πks/K) over the steps s) / (n + 1)        k = 0 ... K - 1; λ_0 = 1

with 1·cos(πk) for the step s = K/2, at which both neighbours are one. There are few choices of steps: try them all.

Other graphs with other weights can do better: the weights that are best for a given graph are found by semidefinite
programming (Xiao and Boyd 2004), the best graphs are not known in general.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations


def best_mixing(ranks: int, degree: int) -> list[list[float]]:
    """The circulant matrix with equal weights, and ``degree`` neighbours at most, that has the largest spectral gap: K
    rows of K numbers; of equally good ones that with the fewest steps, and the smallest."""
    steps = min(choices(ranks, degree), key=lambda steps: round(second(ranks, steps), 12))
    return circulant(ranks, steps)


def choices(ranks: int, degree: int) -> list[tuple[int, ...]]:
    """The sets of steps that make ``degree`` neighbours at most."""
    steps = range(1, ranks // 2 + 1)
    sets = [chosen for n in range(len(steps) + 1) if 2 * n - 1 <= degree for chosen in combinations(steps, n)]
    return [chosen for chosen in sets if neighbours(ranks, chosen) <= degree]


def neighbours(ranks: int, steps: Sequence[int]) -> int:
    """Two for each step; for K/2 one."""
    return sum(1 if 2 * s == ranks else 2 for s in steps)


def second(ranks: int, steps: Sequence[int]) -> float:
    """|λ₂| of the circulant matrix with equal weights; 0 for one rank."""
    parts = neighbours(ranks, steps) + 1
    rows = [[math.cos(2 * math.pi * k * s / ranks) * (1 if 2 * s == ranks else 2) for s in steps]
            for k in range(1, ranks)]  # fmt: skip
    return max((abs(1 + math.fsum(row)) / parts for row in rows), default=0.0)


def circulant(ranks: int, steps: Sequence[int]) -> list[list[float]]:
    """The matrix itself."""
    near = {0, *steps, *(ranks - s for s in steps)}
    return [[1 / len(near) if (j - i) % ranks in near else 0.0 for j in range(ranks)] for i in range(ranks)]
