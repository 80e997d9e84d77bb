"""The learner thought: A compiler will see what I mean."""

import numpy as np
from numba import njit

MISCONCEPTION = "few-accumulators"


@njit
def dot(x, y):
    s = np.float32(0)
    for i in range(x.size):
        s += x[i] * y[i]
    return s
