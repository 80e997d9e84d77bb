"""The learner thought: Registers hold eight, so I go by eights."""

import numpy as np
from numba import njit

MISCONCEPTION = "never-read"


@njit
def saxpy(a, x, y):
    a32 = np.float32(a)
    for i in range(x.size // 8 * 8):
        y[i] = a32 * x[i] + y[i]
