"""The type of x, whatever it is."""

from numba import njit


@njit
def saxpy(a, x, y):
    factor = x.dtype.type(a)
    for i, value in enumerate(x):
        y[i] = factor * value + y[i]
