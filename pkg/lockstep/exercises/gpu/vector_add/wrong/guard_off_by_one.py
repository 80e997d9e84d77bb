"""The learner thought: the last index is the size."""

from numba import cuda

MISCONCEPTION = "out-of-bounds"


@cuda.jit
def vector_add(a, b, out):
    i = cuda.grid(1)
    if i <= out.size:
        out[i] = a[i] + b[i]
