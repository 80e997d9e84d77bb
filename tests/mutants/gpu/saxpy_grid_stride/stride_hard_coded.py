"""The learner thought: the example had 256 threads."""

from numba import cuda

MISCONCEPTION = "fixed-grid"


@cuda.jit
def saxpy_grid_stride(alpha, x, y):
    for i in range(cuda.grid(1), y.size, 256):
        y[i] = alpha * x[i] + y[i]
