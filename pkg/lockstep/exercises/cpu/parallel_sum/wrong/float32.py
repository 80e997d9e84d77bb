"""The learner thought: sums are float32, as in the exercise before."""

import numpy as np
from numba import njit, prange

MISCONCEPTION = "single-precision"


@njit(parallel=True)
def parallel_sum(x, workers):
    partial = np.zeros(workers, np.float32)
    for w in prange(workers):
        s = np.float32(0)
        for i in range(w * x.size // workers, (w + 1) * x.size // workers):
            s += np.float32(x[i])
        partial[w] = s
    return partial.sum()
