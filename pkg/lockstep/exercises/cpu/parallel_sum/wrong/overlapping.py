"""The learner thought: a range contains its end."""

import numpy as np
from numba import njit, prange

MISCONCEPTION = "read-twice"


@njit(parallel=True)
def parallel_sum(x, workers):
    partial = np.zeros(workers)
    for w in prange(workers):
        s = 0.0
        for i in range(w * x.size // workers, min((w + 1) * x.size // workers + 1, x.size)):
            s += x[i]
        partial[w] = s
    return partial.sum()
