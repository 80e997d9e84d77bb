"""The learner thought: continue goes on with the next element. (The step stands below it.)"""

import numpy as np
from numba import njit

MISCONCEPTION = "endless"


@njit
def saxpy(a, x, y):
    a32 = np.float32(a)
    if a32 == 0:
        return
    i = 0
    while i < x.size:
        if i >= 8 and i % 8 == 0:
            continue
        y[i] += a32 * x[i]
        i += 1
