"""The learner thought: prange makes it parallel."""

import numpy as np
from numba import njit, prange

MISCONCEPTION = "not-parallel"


@njit
def parallel_sum(x, workers):
    partial = np.zeros(workers)
    for w in prange(workers):
        s = 0.0
        for i in range(w * x.size // workers, (w + 1) * x.size // workers):
            s += x[i]
        partial[w] = s
    total = 0.0
    for w in range(workers):
        total += partial[w]
    return total
