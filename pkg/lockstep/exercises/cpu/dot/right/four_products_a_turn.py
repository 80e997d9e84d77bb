"""Four products and a tree of sums in each turn: one sum waits, and three others are under way meanwhile."""

import numpy as np
from numba import njit


@njit(fastmath=True)
def dot(x, y):
    m = x.size // 4
    x0, x1, x2, x3 = x[:m], x[m : 2 * m], x[2 * m : 3 * m], x[3 * m : 4 * m]
    y0, y1, y2, y3 = y[:m], y[m : 2 * m], y[2 * m : 3 * m], y[3 * m : 4 * m]
    s = np.float32(0)
    for i in range(m):
        s += (x0[i] * y0[i] + x1[i] * y1[i]) + (x2[i] * y2[i] + x3[i] * y3[i])
    for i in range(4 * m, x.size):
        s += x[i] * y[i]
    return s
