"""The learner thought: so few elements are not worth a prange."""

import numpy as np
from numba import njit, prange

MISCONCEPTION = "serial"


@njit(parallel=True)
def parallel_sum(x, workers):
    if x.size < workers:
        s = 0.0
        for i in range(x.size):
            s += x[i]
        return s
    partial = np.zeros(workers)
    for w in prange(workers):
        s = 0.0
        for i in range(w * x.size // workers, (w + 1) * x.size // workers):
            s += x[i]
        partial[w] = s
    return partial.sum()
