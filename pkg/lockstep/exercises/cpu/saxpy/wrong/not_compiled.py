"""The learner thought: The loop is what counts."""

import numpy as np

MISCONCEPTION = "not-compiled"


def saxpy(a, x, y):
    a = np.float32(a)
    for i in range(x.size):
        y[i] = a * x[i] + y[i]
