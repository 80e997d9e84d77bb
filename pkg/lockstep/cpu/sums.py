# mypy: disable-error-code="untyped-decorator"
"""A sum by several threads of one memory. Where does each of them keep its part?

shared counters    partial[w] += x[i]       neighbours of an array lie in one cache line: the cores take it from
                                            each other at every addition (false sharing)
own variable       s += x[i], and partial[w] = s once at the end: a register needs no line
padded counters    partial[w, 0] += x[i] with 8 float64 a row: each counter has a line of its own
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange


@njit(parallel=True)
def parallel_sum(x: Any, workers: int) -> float:
    """The sum of ``x`` (float64), each of ``workers`` threads adding up one contiguous piece."""
    partial = np.zeros(workers)
    for w in prange(workers):
        first, last = w * x.size // workers, (w + 1) * x.size // workers
        s = 0.0
        for i in range(first, last):
            s += x[i]
        partial[w] = s
    total = 0.0
    for w in range(workers):
        total += partial[w]
    return total
