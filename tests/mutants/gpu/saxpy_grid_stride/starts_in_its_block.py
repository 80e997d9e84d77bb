"""The learner thought: a thread begins at its own number."""

from numba import cuda

MISCONCEPTION = "elements-twice"


@cuda.jit
def saxpy_grid_stride(alpha, x, y):
    for i in range(cuda.threadIdx.x, y.size, cuda.gridsize(1)):
        y[i] = alpha * x[i] + y[i]
