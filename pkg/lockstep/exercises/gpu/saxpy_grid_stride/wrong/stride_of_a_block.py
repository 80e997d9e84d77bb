"""The learner thought: a thread moves on by the size of its block."""

from numba import cuda

MISCONCEPTION = "stride-of-a-block"
TELL = "Several blocks change the same elements. Step by the whole grid, cuda.gridsize(1), and not by one block."


@cuda.jit
def saxpy_grid_stride(alpha, x, y):
    for i in range(cuda.grid(1), y.size, cuda.blockDim.x):
        y[i] = alpha * x[i] + y[i]
