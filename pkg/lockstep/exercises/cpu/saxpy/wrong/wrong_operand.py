"""The learner thought: a belongs to y."""

import numpy as np
from numba import njit

MISCONCEPTION = "a-times-y"
TELL = "a multiplies y; it belongs to x."


@njit
def saxpy(a, x, y):
    a = np.float32(a)
    for i in range(x.size):
        y[i] = x[i] + a * y[i]
