"""The learner thought: The result is in s."""

import numpy as np
from numba import njit

MISCONCEPTION = "wrong-type"


@njit(fastmath=True)
def dot(x, y):
    s = np.float32(0)
    for i in range(x.size):
        s += x[i] * y[i]
