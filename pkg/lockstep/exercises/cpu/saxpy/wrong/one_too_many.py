"""The learner thought: range ends before its end, so one more is needed."""

import numpy as np
from numba import njit

MISCONCEPTION = "out-of-bounds"


@njit
def saxpy(a, x, y):
    a32 = np.float32(a)
    for i in range(x.size + 1):
        y[i] = a32 * x[i] + y[i]
