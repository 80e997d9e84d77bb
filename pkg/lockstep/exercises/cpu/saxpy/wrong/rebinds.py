"""The learner thought: y = ... changes y."""

import numpy as np
from numba import njit

MISCONCEPTION = "unchanged"
TELL = "What you return is not looked at. Assign to the elements of y: y[i] = ..."


@njit
def saxpy(a, x, y):
    return np.float32(a) * x + y
