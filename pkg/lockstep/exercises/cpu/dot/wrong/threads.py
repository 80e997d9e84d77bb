"""The learner thought: prange adds up in parallel, that is what is wanted."""

import numpy as np
from numba import njit, prange

MISCONCEPTION = "threads"


@njit(parallel=True, fastmath=True)
def dot(x, y):
    s = np.float32(0)
    for i in prange(x.size):
        s += x[i] * y[i]
    return s
