"""The learner thought: Accumulators are an array: then k can be any number. (Eight of them, one at a time.)"""

import numpy as np
from numba import njit

MISCONCEPTION = "scalar-code"


@njit
def dot(x, y):
    s = np.zeros(8, np.float32)
    m = x.size // 8
    for i in range(m):
        for j in range(8):
            s[j] += x[8 * i + j] * y[8 * i + j]
    total = np.float32(0)
    for i in range(8 * m, x.size):
        total += x[i] * y[i]
    for j in range(8):
        total += s[j]
    return total
