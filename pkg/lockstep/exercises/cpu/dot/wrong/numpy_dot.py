"""The learner thought: np.dot is a dot product."""

import numpy as np
from numba import njit

MISCONCEPTION = "library-call"


@njit
def dot(x, y):
    return np.dot(x, y)
