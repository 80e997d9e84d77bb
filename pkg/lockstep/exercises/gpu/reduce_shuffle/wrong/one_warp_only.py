"""The learner thought: thread 0 has the block's sum."""

from numba import cuda, float32

MISCONCEPTION = "one-warp-only"
TELL = "Only the first warp of each block counts. Lane 0 of each warp holds a sum."


@cuda.jit
def reduce_shuffle(values, out):
    i = cuda.grid(1)
    value = values[i] if i < values.size else float32(0.0)
    offset = 16
    while offset > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, offset)
        offset //= 2
    if cuda.threadIdx.x == 0:
        cuda.atomic.add(out, 0, value)
