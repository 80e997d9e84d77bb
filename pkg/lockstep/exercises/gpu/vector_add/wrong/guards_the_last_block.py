"""The learner thought: only the last block can have too many threads."""

from numba import cuda

MISCONCEPTION = "out-of-bounds"


@cuda.jit
def vector_add(a, b, out):
    i = cuda.grid(1)
    if cuda.blockIdx.x < cuda.gridDim.x - 1 or i < out.size:
        out[i] = a[i] + b[i]
