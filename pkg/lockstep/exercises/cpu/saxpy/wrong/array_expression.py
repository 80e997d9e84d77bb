"""The learner thought: NumPy has no loops, and numba makes NumPy fast."""

import numpy as np
from numba import njit

MISCONCEPTION = "temporary-array"


@njit
def saxpy(a, x, y):
    y[:] = np.float32(a) * x + y
