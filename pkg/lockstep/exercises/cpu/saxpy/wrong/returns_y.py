"""The learner thought: A function that has changed y returns it."""

import numpy as np
from numba import njit

MISCONCEPTION = "returns-something"


@njit
def saxpy(a, x, y):
    a = np.float32(a)
    for i in range(x.size):
        y[i] += a * x[i]
    return y
