"""The learner thought: Everybody has an element of their own: nothing is shared."""

import numpy as np
from numba import njit, prange

MISCONCEPTION = "too-many-transfers"


@njit(parallel=True)
def parallel_sum(x, workers):
    partial = np.zeros(workers)
    for w in prange(workers):
        for i in range(w * x.size // workers, (w + 1) * x.size // workers):
            partial[w] += x[i]
    total = 0.0
    for w in range(workers):
        total += partial[w]
    return total
