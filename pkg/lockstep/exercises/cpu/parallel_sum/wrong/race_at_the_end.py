"""The learner thought: Each adds its part to the total, only once: that cannot collide."""

import numpy as np
from numba import njit, prange

MISCONCEPTION = "race"


@njit(parallel=True)
def parallel_sum(x, workers):
    total = np.zeros(1)
    for w in prange(workers):
        s = 0.0
        for i in range(w * x.size // workers, (w + 1) * x.size // workers):
            s += x[i]
        total[0] += s
    return total[0]
