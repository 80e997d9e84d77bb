"""The learner thought: what is left over is so little that its type does not matter."""

import numpy as np
from numba import njit

MISCONCEPTION = "float64-arithmetic"


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
    total = 0.0
    for i in range(4 * m, x.size):
        total += x[i] * y[i]
    return total + s0 + s1 + s2 + s3
