"""The learner thought: Four sums are a list of four."""

import numpy as np
from numba import njit

MISCONCEPTION = "accumulators-in-memory"


@njit(fastmath=True)
def dot(x, y):
    s = [np.float32(0), np.float32(0), np.float32(0), np.float32(0)]
    for i in range(x.size):
        s[i % 4] += x[i] * y[i]
    return s[0] + s[1] + s[2] + s[3]
