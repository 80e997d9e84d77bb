"""The learner thought: A sum starts with 0.0."""

from numba import njit

MISCONCEPTION = "float64-arithmetic"


@njit(fastmath=True)
def dot(x, y):
    s = 0.0
    for i in range(x.size):
        s += x[i] * y[i]
    return s
