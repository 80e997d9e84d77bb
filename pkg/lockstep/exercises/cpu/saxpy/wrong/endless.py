"""The learner thought: while is faster than range. (And forgot the step.)"""

import numpy as np
from numba import njit

MISCONCEPTION = "endless"


@njit
def saxpy(a, x, y):
    a32 = np.float32(a)
    i = 0
    while i < x.size:
        y[i] += a32 * x[i]
