"""The learner thought: any order of the elements is as good as any other."""

from numba import cuda

MISCONCEPTION = "too-many-sectors"


@cuda.jit
def vector_add(a, b, out):
    i = cuda.threadIdx.x * cuda.gridDim.x + cuda.blockIdx.x
    if i < out.size:
        out[i] = a[i] + b[i]
