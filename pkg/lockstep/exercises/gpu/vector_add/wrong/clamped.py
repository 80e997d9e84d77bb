"""The learner thought: a thread to spare may do the last element once more."""

from numba import cuda

MISCONCEPTION = "too-many-global-bytes"


@cuda.jit
def vector_add(a, b, out):
    i = min(cuda.grid(1), out.size - 1)
    out[i] = a[i] + b[i]
