"""The element in a function of its own, which numba inlines."""

import numpy as np
from numba import njit


@njit
def one(a, x, y):
    return a * x + y


@njit
def saxpy(a, x, y):
    a = np.float32(a)
    for i in range(x.size):
        y[i] = one(a, x[i], y[i])
