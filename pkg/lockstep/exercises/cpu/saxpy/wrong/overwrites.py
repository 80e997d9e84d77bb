"""The learner thought: y is the result, so I assign to it."""

import numpy as np
from numba import njit

MISCONCEPTION = "minus-own"


@njit
def saxpy(a, x, y):
    a = np.float32(a)
    for i in range(x.size):
        y[i] = a * x[i]
