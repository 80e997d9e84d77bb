"""The learner thought: Each takes n // workers elements."""

import numpy as np
from numba import njit, prange

MISCONCEPTION = "never-read"


@njit(parallel=True)
def parallel_sum(x, workers):
    partial = np.zeros(workers)
    each = x.size // workers
    for w in prange(workers):
        s = 0.0
        for i in range(w * each, (w + 1) * each):
            s += x[i]
        partial[w] = s
    total = 0.0
    for w in range(workers):
        total += partial[w]
    return total
