# mypy: disable-error-code="untyped-decorator"
"""The latency of one memory access, measured by pointer chasing: each access must wait for the one before.

    chain[0] = 7    chain[7] = 3    chain[3] = 9 ...      one cycle through all elements, in random order

Random, so that no prefetcher predicts the next address; one cycle, so that all elements are visited. The time steps up
where the array outgrows a cache (Drepper, What Every Programmer Should Know About Memory, 2007).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from lockstep.cpu.tracing import LINE
from lockstep.this_machine.measure import best_time


@njit
def follow(chain: Any, steps: int) -> int:
    """Follow the chain from element 0; the index after ``steps`` steps."""
    at = 0
    for _ in range(steps):
        at = chain[at]
    return at


def circle(nbytes: int, seed: int = 0) -> np.ndarray[Any, np.dtype[np.int64]]:
    """A random cycle through an array of ``nbytes`` bytes, one element per cache line."""
    stride = LINE // 8
    order = np.random.default_rng(seed).permutation(max(2, nbytes // LINE)) * stride
    chain = np.zeros(order.size * stride, np.int64)
    chain[order] = np.roll(order, -1)
    return chain


def latency(nbytes: int, seconds: float = 0.05, steps: int = 20_000) -> float:
    """Seconds of one access to an array of ``nbytes`` bytes, each waiting for the one before."""
    chain = circle(nbytes)
    follow(chain, chain.size // 8)  # once round, so that the caches are warm
    return best_time(lambda: follow(chain, steps), seconds) / steps
