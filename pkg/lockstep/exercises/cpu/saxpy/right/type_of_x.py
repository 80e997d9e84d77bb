"""The type of x, whatever it is."""

from numba import njit


@njit
def saxpy(a, x, y):
    factor = x.dtype.type(a)
    for i in range(x.size):
        y[i] = factor * x[i] + y[i]
