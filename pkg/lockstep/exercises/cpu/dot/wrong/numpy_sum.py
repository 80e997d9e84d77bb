"""The learner thought: First multiply, then add up."""

import numpy as np
from numba import njit

MISCONCEPTION = "temporary-array"


@njit(fastmath=True)
def dot(x, y):
    return np.sum(x * y)
