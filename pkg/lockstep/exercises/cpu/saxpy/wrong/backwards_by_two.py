"""The learner thought: I unroll by hand: two elements a turn, the rest at the end."""

import numpy as np
from numba import njit

MISCONCEPTION = "scalar-code"


@njit
def saxpy(a, x, y):
    a = np.float32(a)
    for i in range(0, x.size - 1, 2):
        y[i] = a * x[i] + y[i]
        y[i + 1] = a * x[i + 1] + y[i + 1]
    if x.size % 2:
        y[x.size - 1] = a * x[x.size - 1] + y[x.size - 1]
