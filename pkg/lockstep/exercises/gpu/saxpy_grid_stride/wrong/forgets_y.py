"""The learner thought: the kernel computes alpha times x."""

from numba import cuda

MISCONCEPTION = "minus-own"


@cuda.jit
def saxpy_grid_stride(alpha, x, y):
    for i in range(cuda.grid(1), y.size, cuda.gridsize(1)):
        y[i] = alpha * x[i]
