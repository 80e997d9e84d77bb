"""The learner thought: a kernel is a function with a loop, and somebody has to run it."""

from numba import cuda

MISCONCEPTION = "one-thread"


@cuda.jit
def vector_add(a, b, out):
    if cuda.grid(1) == 0:
        for i in range(out.size):
            out[i] = a[i] + b[i]
