"""The learner thought: zip is how one walks through two arrays, and fastmath does the rest."""

import numpy as np
from numba import njit

MISCONCEPTION = "few-accumulators"


@njit(fastmath=True)
def dot(x, y):
    s = np.float32(0)
    for a, b in zip(x, y):  # noqa: B905 - numba's zip has no strict
        s += a * b
    return s
