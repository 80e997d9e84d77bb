"""The learner thought: an array of three products costs nothing."""

import numpy as np
from numba import njit

MISCONCEPTION = "array-of-products"


@njit(fastmath=True)
def rest(a, b):
    return (a * b).sum()


@njit(fastmath=True)
def dot(x, y):
    m = x.size // 4
    x0, x1, x2, x3 = x[:m], x[m : 2 * m], x[2 * m : 3 * m], x[3 * m : 4 * m]
    y0, y1, y2, y3 = y[:m], y[m : 2 * m], y[2 * m : 3 * m], y[3 * m : 4 * m]
    s0 = s1 = s2 = s3 = np.float32(0)
    for i in range(m):
        s0 += x0[i] * y0[i]
        s1 += x1[i] * y1[i]
        s2 += x2[i] * y2[i]
        s3 += x3[i] * y3[i]
    return s0 + s1 + s2 + s3 + rest(x[4 * m :], y[4 * m :])
