"""The learner thought: an index is a whole number, so everything is."""

from numba import cuda

MISCONCEPTION = "wrong-values"


@cuda.jit
def vector_add(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = int(a[i]) + int(b[i])
