"""The learner thought: Element i goes to accumulator i mod 4, in strict order."""

import numpy as np
from numba import njit

MISCONCEPTION = "scalar-code"


@njit
def dot(x, y):
    m = x.size // 4 * 4
    a = b = c = d = np.float32(0)
    for i in range(0, m, 4):
        a += x[i] * y[i]
        b += x[i + 1] * y[i + 1]
        c += x[i + 2] * y[i + 2]
        d += x[i + 3] * y[i + 3]
    for i in range(m, x.size):
        a += x[i] * y[i]
    return a + b + c + d
