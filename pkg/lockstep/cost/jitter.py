"""Times that vary: factors of mean 1, lognormal, so that none is negative and a few are far above the others.

    c    coefficient of variation of the factor, standard deviation / mean
    σ²   ln(1 + c²), the variance of its logarithm; the logarithm's mean is -σ²/2, which makes the factor's mean 1

Each rank draws from streams of its own, once for each communication that it posts, in the order of its own program. So
the n-th factor of a rank depends on the seed, the rank and n alone, and not on who is simulated first.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

from lockstep.machines import Jitter


class Draws:
    """The factors of one rank."""

    def __init__(self, jitter: Jitter, rank: int) -> None:
        self.compute = factors(jitter.compute, f"compute of rank {rank}, seed {jitter.seed}")
        self.message = factors(jitter.messages, f"messages of rank {rank}, seed {jitter.seed}")


def factors(variation: float, seed: str) -> Callable[[], float]:
    """A function that gives one factor after the other."""
    if variation == 0:
        return lambda: 1.0
    stream, variance = Random(seed), math.log1p(variation**2)
    return lambda: stream.lognormvariate(-variance / 2, math.sqrt(variance))
