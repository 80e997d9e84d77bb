"""The learner thought: The last one takes half of it all: somebody has to."""

import numpy as np
from numba import njit, prange

MISCONCEPTION = "uneven"


@njit(parallel=True)
def parallel_sum(x, workers):
    partial = np.zeros(workers)
    each = x.size // (2 * workers)
    for w in prange(workers):
        s = 0.0
        for i in range(w * each, x.size if w == workers - 1 else (w + 1) * each):
            s += x[i]
        partial[w] = s
    total = 0.0
    for w in range(workers):
        total += partial[w]
    return total
