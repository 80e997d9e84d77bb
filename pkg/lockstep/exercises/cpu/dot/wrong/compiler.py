"""The learner thought: fastmath makes the accumulators, so I need none."""

import numpy as np
from numba import njit

MISCONCEPTION = "few-accumulators"


@njit(fastmath=True)
def dot(x, y):
    s = np.float32(0)
    for i in range(x.size):
        s += x[i] * y[i]
    return s
