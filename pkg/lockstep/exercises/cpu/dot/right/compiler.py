"""A plain loop: the compiler may make the accumulators."""

import numpy as np
from numba import njit


@njit(fastmath=True)
def dot(x, y):
    s = np.float32(0)
    for i in range(x.size):
        s += x[i] * y[i]
    return s
