"""The learner thought: a is a good place for the sum on its way."""

from numba import cuda

MISCONCEPTION = "too-many-global-bytes"


@cuda.jit
def vector_add(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i]
        out[i] = out[i] + b[i]
