"""The learner thought: each takes n // workers, and the few that are left go to the last one."""

import numpy as np
from numba import njit, prange

MISCONCEPTION = "uneven"


@njit(parallel=True)
def parallel_sum(x, workers):
    partial = np.zeros(workers)
    each = x.size // workers
    for w in prange(workers):
        s = 0.0
        for i in range(w * each, x.size if w == workers - 1 else (w + 1) * each):
            s += x[i]
        partial[w] = s
    return partial.sum()
