"""The learner thought: a thread begins at its own number."""

from numba import cuda

MISCONCEPTION = "starts-in-its-block"
TELL = (
    "All blocks change the same elements, and leave others out. Begin at cuda.grid(1), the thread's place in the "
    "whole grid, and not at its place in its block."
)


@cuda.jit
def saxpy_grid_stride(alpha, x, y):
    for i in range(cuda.threadIdx.x, y.size, cuda.gridsize(1)):
        y[i] = alpha * x[i] + y[i]
