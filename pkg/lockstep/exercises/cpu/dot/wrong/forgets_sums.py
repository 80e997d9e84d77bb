"""The learner thought: The sum is in the accumulator."""

import numpy as np
from numba import njit

MISCONCEPTION = "forgets-accumulators"
TELL = "This is one of your accumulators: add up all of them."


@njit(fastmath=True)
def dot(x, y):
    m = x.size // 4
    x0, x1, x2, x3 = x[:m], x[m : 2 * m], x[2 * m : 3 * m], x[3 * m : 4 * m]
    y0, y1, y2, y3 = y[:m], y[m : 2 * m], y[2 * m : 3 * m], y[3 * m : 4 * m]
    a = b = c = d = np.float32(0)
    for i in range(m):
        a += x0[i] * y0[i]
        b += x1[i] * y1[i]
        c += x2[i] * y2[i]
        d += x3[i] * y3[i]
    for i in range(4 * m, x.size):
        a += x[i] * y[i]
    return a
