"""The learner thought: the example had 256 threads."""

from numba import cuda

MISCONCEPTION = "fixed-grid"
TELL = "It steps by 256, and so it is right only for a grid of 256 threads. Ask cuda.gridsize(1) how many there are."


@cuda.jit
def saxpy_grid_stride(alpha, x, y):
    for i in range(cuda.grid(1), y.size, 256):
        y[i] = alpha * x[i] + y[i]
