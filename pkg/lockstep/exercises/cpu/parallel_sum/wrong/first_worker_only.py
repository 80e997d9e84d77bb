"""The learner thought: The result is in partial[0]."""

import numpy as np
from numba import njit, prange

MISCONCEPTION = "forgets-workers"
TELL = "This is the part of the first worker: add up all of them."


@njit(parallel=True)
def parallel_sum(x, workers):
    partial = np.zeros(workers)
    for w in prange(workers):
        s = 0.0
        for i in range(w * x.size // workers, (w + 1) * x.size // workers):
            s += x[i]
        partial[w] = s
    return partial[0]
