"""The learner thought: nobody has more than eight cores."""

import numpy as np
from numba import njit, prange

MISCONCEPTION = "ignores-workers"


@njit(parallel=True)
def parallel_sum(x, workers):
    workers = min(workers, 8)
    partial = np.zeros(workers)
    for w in prange(workers):
        s = 0.0
        for i in range(w * x.size // workers, (w + 1) * x.size // workers):
            s += x[i]
        partial[w] = s
    return partial.sum()
