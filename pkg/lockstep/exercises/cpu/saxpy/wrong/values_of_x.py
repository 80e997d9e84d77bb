"""The learner thought: for goes through the elements, as everywhere in Python."""

import numpy as np
from numba import njit

MISCONCEPTION = "scalar-code"


@njit
def saxpy(a, x, y):
    a32 = np.float32(a)
    i = 0
    for value in x:
        y[i] += a32 * value
        i += 1
