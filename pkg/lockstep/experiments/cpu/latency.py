# mypy: disable-error-code="untyped-decorator"
"""How long does one access to memory take? Each access must wait for the one before: follow a chain of indices.

    chain[0] = 7    chain[7] = 3    chain[3] = 9 ...      one circle through all elements, in random order

Random, so that no prefetcher guesses the next address; one circle, so that all elements are visited. The time steps up
where the array outgrows a cache (Drepper, What Every Programmer Should Know About Memory, 2007).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from lockstep.this_machine.measure import best_time

LINE = 64


@njit
def follow(chain: Any, steps: int) -> int:
    """Where one arrives after ``steps`` steps."""
    at = 0
    for _ in range(steps):
        at = chain[at]
    return at


def circle(nbytes: int, seed: int = 0) -> np.ndarray[Any, np.dtype[np.int64]]:
    """One random circle through an array of ``nbytes`` bytes, one element a line of 64 bytes."""
    stride = LINE // 8
    order = np.random.default_rng(seed).permutation(max(2, nbytes // LINE)) * stride
    chain = np.zeros(order.size * stride, np.int64)
    chain[order] = np.roll(order, -1)
    return chain


def latency(nbytes: int, seconds: float = 0.05, steps: int = 20_000) -> float:
    """Seconds of one access to an array of ``nbytes`` bytes, each waiting for the one before."""
    chain = circle(nbytes)
    follow(chain, chain.size // 8)  # once round, so that what fits into a cache is there
    return best_time(lambda: follow(chain, steps), seconds) / steps
