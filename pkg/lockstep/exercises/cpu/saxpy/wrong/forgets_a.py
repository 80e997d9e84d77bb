"""The learner thought: y becomes x + y. (And had a converted, for later.)"""

import numpy as np
from numba import njit

MISCONCEPTION = "forgets-a"
TELL = "y becomes x + y: multiply x by a."


@njit
def saxpy(a, x, y):
    a32 = np.float32(a)
    for i in range(x.size):
        y[i] = x[i] + y[i]
