"""The learner thought: a is a number to count with."""

import numpy as np
from numba import njit

MISCONCEPTION = "cuts-a"
TELL = "You cut a to a whole number: np.float32(a) keeps what stands behind the point."


@njit
def saxpy(a, x, y):
    whole = np.int32(a)
    for i in range(x.size):
        y[i] += whole * x[i]
