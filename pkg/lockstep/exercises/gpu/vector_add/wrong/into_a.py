"""The learner thought: the sum goes into the first vector."""

from numba import cuda

MISCONCEPTION = "wrong-array"


@cuda.jit
def vector_add(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        a[i] += b[i]
