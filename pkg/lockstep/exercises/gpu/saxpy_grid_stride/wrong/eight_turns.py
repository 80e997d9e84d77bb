"""The learner thought: eight turns are enough for any vector."""

from numba import cuda

MISCONCEPTION = "wrong-values"


@cuda.jit
def saxpy_grid_stride(alpha, x, y):
    i = cuda.grid(1)
    for turn in range(8):
        if i < y.size:
            y[i] = alpha * x[i] + y[i]
        i += cuda.gridsize(1)
