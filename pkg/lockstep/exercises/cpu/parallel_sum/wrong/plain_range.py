"""The learner thought: parallel=True makes it parallel."""

import numpy as np
from numba import njit

MISCONCEPTION = "serial"


@njit(parallel=True)
def parallel_sum(x, workers):
    partial = np.zeros(workers)
    for w in range(workers):
        s = 0.0
        for i in range(w * x.size // workers, (w + 1) * x.size // workers):
            s += x[i]
        partial[w] = s
    total = 0.0
    for w in range(workers):
        total += partial[w]
    return total
