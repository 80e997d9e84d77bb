"""The learner thought: where b is 0 there is nothing to add."""

from numba import cuda

MISCONCEPTION = "wrong-values"


@cuda.jit
def vector_add(a, b, out):
    i = cuda.grid(1)
    if i < out.size and b[i] != 0:
        out[i] = a[i] + b[i]
