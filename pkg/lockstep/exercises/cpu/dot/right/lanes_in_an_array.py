"""64 sums in an array: each turn of the inner loop is a few instructions on many lanes, none of which waits."""

import numpy as np
from numba import njit


@njit
def dot(x, y):
    s = np.zeros(64, np.float32)
    m = x.size // 64
    for i in range(m):
        for j in range(64):
            s[j] += x[64 * i + j] * y[64 * i + j]
    total = np.float32(0)
    for j in range(64):
        total += s[j]
    for i in range(64 * m, x.size):
        total += x[i] * y[i]
    return total
