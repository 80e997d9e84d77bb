"""The learner thought: the block's number is where its threads begin."""

from numba import cuda

MISCONCEPTION = "ignores-block-size"
TELL = (
    "Each block begins one element after the block before it, so blocks overlap. The blocks before mine hold "
    "blockIdx.x * blockDim.x threads."
)


@cuda.jit
def vector_add(a, b, out):
    i = cuda.blockIdx.x + cuda.threadIdx.x
    if i < out.size:
        out[i] = a[i] + b[i]
