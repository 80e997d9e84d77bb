"""The learner thought: the few that are left over are quickly added up at the end."""

import numpy as np
from numba import njit, prange

MISCONCEPTION = "uneven"


@njit(parallel=True)
def parallel_sum(x, workers):
    partial = np.zeros(workers)
    each = x.size // workers
    for w in prange(workers):
        s = 0.0
        for i in range(w * each, (w + 1) * each):
            s += x[i]
        partial[w] = s
    total = partial.sum()
    for i in range(each * workers, x.size):
        total += x[i]
    return total
