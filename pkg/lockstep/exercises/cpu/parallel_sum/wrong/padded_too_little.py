"""The learner thought: Two float64 apart is apart."""

import numpy as np
from numba import njit, prange

MISCONCEPTION = "too-many-transfers"


@njit(parallel=True)
def parallel_sum(x, workers):
    partial = np.zeros(2 * workers)
    for w in prange(workers):
        for i in range(w * x.size // workers, (w + 1) * x.size // workers):
            partial[2 * w] += x[i]
    total = 0.0
    for w in range(workers):
        total += partial[2 * w]
    return total
