"""The learner thought: x is the first array, so the result goes there."""

import numpy as np
from numba import njit

MISCONCEPTION = "wrong-array"


@njit
def saxpy(a, x, y):
    a = np.float32(a)
    for i in range(x.size):
        x[i] = a * x[i] + y[i]
