"""The learner thought: there is one thread for each element."""

from numba import cuda

MISCONCEPTION = "out-of-bounds"


@cuda.jit
def vector_add(a, b, out):
    i = cuda.grid(1)
    out[i] = a[i] + b[i]
