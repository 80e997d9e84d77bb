"""Least squares for alpha and beta from measured messages, and the fastest all-reduce for given alpha and beta."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

from lockstep.cost.algorithms import all_reduces
from lockstep.errors import UsageError

CHOICES = {"ring": "ring", "tree": "binomial_tree"} | {n: n for n in ("halving_doubling", "recursive_doubling")}


def fit_alpha_beta(nbytes: Sequence[float], seconds: Sequence[float]) -> tuple[float, float]:
    """The alpha (s) and beta (s per byte), neither negative, that fit ``seconds ≈ alpha + nbytes·beta`` best.

    Best means the smallest sum of squared *relative* errors, ((alpha + n·beta - t) / t)². With absolute errors one
    message of 16 MB, whose noise exceeds the whole time of a small message, would dominate the fit, and alpha, which
    only small messages show, could be anything. Measure both kinds: small ones for alpha, large ones for beta.

    Raises UsageError unless there are two different sizes, each with a time above zero.
    """
    _check(nbytes, seconds)
    points = list(zip(nbytes, seconds, strict=True))
    s1 = sum(1 / t for _, t in points)  # the normal equations of rows (1/t, n/t) and right-hand side 1
    sn = sum(n / t for n, t in points)
    s11 = sum(1 / t**2 for _, t in points)
    s1n = sum(n / t**2 for n, t in points)
    snn = sum((n / t) ** 2 for n, t in points)
    determinant = s11 * snn - s1n**2
    alpha = (s1 * snn - sn * s1n) / determinant
    beta = (sn * s11 - s1 * s1n) / determinant
    if alpha < 0:  # the constrained optimum is on the boundary
        return 0.0, sn / snn
    if beta < 0:
        return s1 / s11, 0.0
    return alpha, beta


def choose_algorithm(nbytes: int, ranks: int, alpha: float, beta: float) -> str:
    """The fastest all-reduce: "ring", "tree" (binomial), and where the number of ranks is a power of two
    "halving_doubling" and "recursive_doubling".

    Recursive doubling has the fewest consecutive messages, the ring and halving-doubling send the fewest bytes. Where
    the latter two don't exist, tree and ring cross at ⌈log₂K⌉(alpha + n·beta) = (K-1)·alpha + (K-1)/K·n·beta; where
    they do, they cross at log₂K·alpha = (log₂K - 2(K-1)/K)·n·beta, and by this model nothing beats them. (Their
    partners are far apart, which this model does not see.)
    """
    times = choices(nbytes, ranks, alpha, beta)
    return min(times, key=lambda choice: times[choice])


def choices(nbytes: int, ranks: int, alpha: float, beta: float) -> dict[str, float]:
    """Seconds of each all-reduce among which ``choose_algorithm`` chooses, by its name."""
    offered = all_reduces(ranks)
    return {
        choice: offered[name](nbytes, ranks, alpha, beta).seconds for choice, name in CHOICES.items() if name in offered
    }


def crossings(ranks: int, alpha: float, beta: float) -> dict[tuple[str, str], float]:
    """The bytes at which two of the choices take the same time, for each pair of these straight lines that crosses. The
    first of a pair is the faster one above that size."""
    fixed, much = choices(0, ranks, alpha, beta), choices(10**12, ranks, alpha, beta)
    slope = {name: (much[name] - fixed[name]) / 1e12 for name in fixed}
    found = {}
    for a, b in combinations(sorted(fixed, key=slope.__getitem__), 2):  # a is the flatter line
        apart, steeper = fixed[a] - fixed[b], slope[b] - slope[a]
        if apart * steeper > 1e-6 * alpha * beta:
            found[a, b] = apart / steeper
    return found


def _check(nbytes: Sequence[float], seconds: Sequence[float]) -> None:
    if len(nbytes) != len(seconds):
        raise UsageError(f"There are {len(nbytes)} sizes but {len(seconds)} times.", "Give one time for each size.")
    if len(set(nbytes)) < 2:
        raise UsageError("Two numbers cannot be fitted to one size of message.", "Measure at least two sizes.")
    if not all(n >= 0 for n in nbytes) or not all(0 < t < math.inf for t in seconds):
        raise UsageError(
            "A size must be at least 0 bytes, and a time above 0 seconds and finite.", "Repeat each message more often."
        )
