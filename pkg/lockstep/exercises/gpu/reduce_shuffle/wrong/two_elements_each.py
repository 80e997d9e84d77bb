"""The learner thought: a thread that adds two elements while it loads saves half of the blocks their work."""

from numba import cuda, float32

MISCONCEPTION = "not-its-own"


@cuda.jit
def reduce_shuffle(values, out):
    i = 2 * cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    value = float32(0.0)
    if i < values.size:
        value += values[i]
    if i + cuda.blockDim.x < values.size:
        value += values[i + cuda.blockDim.x]
    offset = 16
    while offset > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, offset)
        offset //= 2
    if cuda.laneid == 0:
        cuda.atomic.add(out, 0, value)
