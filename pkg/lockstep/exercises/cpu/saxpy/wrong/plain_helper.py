"""The learner thought: The function that does the work need not be compiled."""

import numpy as np
from numba import njit

MISCONCEPTION = "does-not-compile"


def one(a, x, y):
    return np.float32(a) * x + y


@njit
def saxpy(a, x, y):
    for i in range(x.size):
        y[i] = one(a, x[i], y[i])
