"""The learner thought: threadIdx numbers all the threads."""

from numba import cuda

MISCONCEPTION = "ignores-the-block"


@cuda.jit
def vector_add(a, b, out):
    i = cuda.threadIdx.x
    if i < out.size:
        out[i] = a[i] + b[i]
