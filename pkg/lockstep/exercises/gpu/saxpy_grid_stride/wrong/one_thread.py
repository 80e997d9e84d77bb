"""The learner thought: the loop is there, so one thread can run it."""

from numba import cuda

MISCONCEPTION = "too-many-global-requests"


@cuda.jit
def saxpy_grid_stride(alpha, x, y):
    if cuda.grid(1) == 0:
        for i in range(y.size):
            y[i] += alpha * x[i]
