"""The learner thought: reads are cached, only writes matter."""

from numba import cuda

MISCONCEPTION = "column-reads"
TELL = (
    "Your warps write rows, but their lanes read down a column of source: every lane needs a sector of its own. "
    "Read rows, and turn in shared memory."
)


@cuda.jit
def transpose(source, target):
    x = cuda.blockIdx.y * cuda.blockDim.x + cuda.threadIdx.x
    y = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    if y < target.shape[0] and x < target.shape[1]:
        target[y, x] = source[x, y]
