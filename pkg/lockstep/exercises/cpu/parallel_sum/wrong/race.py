"""The learner thought: There is one total, and all add to it."""

import numpy as np
from numba import njit, prange

MISCONCEPTION = "race"


@njit(parallel=True)
def parallel_sum(x, workers):
    total = np.zeros(1)
    for w in prange(workers):
        for i in range(w * x.size // workers, (w + 1) * x.size // workers):
            total[0] += x[i]
    return total[0]
