"""The learner thought: the grid is always large enough."""

from numba import cuda

MISCONCEPTION = "no-loop"


@cuda.jit
def saxpy_grid_stride(alpha, x, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = alpha * x[i] + y[i]
