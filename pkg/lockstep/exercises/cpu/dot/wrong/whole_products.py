"""The learner thought: a sum begins with 0, and 0 is an int."""

import numpy as np
from numba import njit

MISCONCEPTION = "cuts-products"
TELL = "You cut each product to a whole number: keep it in float32."


@njit(fastmath=True)
def dot(x, y):
    s = 0
    for i in range(x.size):
        s += np.int32(x[i] * y[i])
    return np.float32(s)
