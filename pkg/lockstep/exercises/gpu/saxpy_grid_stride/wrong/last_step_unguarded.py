"""The learner thought: the vector is a multiple of the grid."""

from numba import cuda

MISCONCEPTION = "out-of-bounds"


@cuda.jit
def saxpy_grid_stride(alpha, x, y):
    rounds = (y.size + cuda.gridsize(1) - 1) // cuda.gridsize(1)
    for r in range(rounds):
        i = cuda.grid(1) + r * cuda.gridsize(1)
        y[i] = alpha * x[i] + y[i]
