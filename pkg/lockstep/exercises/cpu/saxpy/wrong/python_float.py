"""The learner thought: a is a number, and a number is a number."""

from numba import njit

MISCONCEPTION = "float64-arithmetic"


@njit
def saxpy(a, x, y):
    for i in range(x.size):
        y[i] = a * x[i] + y[i]
