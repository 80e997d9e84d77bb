"""The learner thought: the grid is always large enough."""

from numba import cuda

MISCONCEPTION = "no-loop"
TELL = (
    "Only as many elements change as the grid has threads. A thread must go on with its next element, "
    "cuda.gridsize(1) further on."
)


@cuda.jit
def saxpy_grid_stride(alpha, x, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = alpha * x[i] + y[i]
