"""The learner thought: reads are cached, only writes matter."""

from numba import cuda

MISCONCEPTION = "uncoalesced"


@cuda.jit
def transpose(source, target):
    x = cuda.blockIdx.y * cuda.blockDim.x + cuda.threadIdx.x
    y = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    if y < target.shape[0] and x < target.shape[1]:
        target[y, x] = source[x, y]
