"""The learner thought: y = ... changes y."""

import numpy as np
from numba import njit

MISCONCEPTION = "unchanged"


@njit
def saxpy(a, x, y):
    return np.float32(a) * x + y
