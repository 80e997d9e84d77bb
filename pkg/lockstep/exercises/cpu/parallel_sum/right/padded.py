"""A line for each counter: eight float64."""

import numpy as np
from numba import njit, prange


@njit(parallel=True)
def parallel_sum(x, workers):
    partial = np.zeros((workers, 8))
    for w in prange(workers):
        for i in range(w * x.size // workers, (w + 1) * x.size // workers):
            partial[w, 0] += x[i]
    total = 0.0
    for w in range(workers):
        total += partial[w, 0]
    return total
