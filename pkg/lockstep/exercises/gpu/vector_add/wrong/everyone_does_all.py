"""The learner thought: every thread runs the loop, and together they are faster."""

from numba import cuda

MISCONCEPTION = "everyone-does-everything"
TELL = "Every thread computes every element. A kernel is what one thread does: one element."


@cuda.jit
def vector_add(a, b, out):
    for i in range(out.size):
        out[i] = a[i] + b[i]
