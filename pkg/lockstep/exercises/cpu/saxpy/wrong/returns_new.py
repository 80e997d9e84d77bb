"""The learner thought: A function returns its result."""

import numpy as np
from numba import njit

MISCONCEPTION = "unchanged"
TELL = "What you return is another array, and y is as it was. Assign to the elements of y: y[i] = ..."


@njit
def saxpy(a, x, y):
    z = np.empty_like(y)
    a = np.float32(a)
    for i in range(x.size):
        z[i] = a * x[i] + y[i]
    return z
