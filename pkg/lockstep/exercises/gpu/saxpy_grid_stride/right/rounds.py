"""Rounds of the whole grid, each guarded."""

from numba import cuda


@cuda.jit
def saxpy_grid_stride(alpha, x, y):
    step = cuda.gridsize(1)
    for begin in range(0, y.size, step):
        i = begin + cuda.grid(1)
        if i < y.size:
            y[i] = y[i] + alpha * x[i]
