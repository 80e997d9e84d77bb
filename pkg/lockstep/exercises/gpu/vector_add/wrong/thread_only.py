"""The learner thought: threadIdx numbers all the threads."""

from numba import cuda

MISCONCEPTION = "ignores-the-block"
TELL = (
    "Only as many elements are computed as one block has threads. cuda.threadIdx.x begins at 0 again in each "
    "block; cuda.grid(1) counts through the whole grid."
)


@cuda.jit
def vector_add(a, b, out):
    i = cuda.threadIdx.x
    if i < out.size:
        out[i] = a[i] + b[i]
