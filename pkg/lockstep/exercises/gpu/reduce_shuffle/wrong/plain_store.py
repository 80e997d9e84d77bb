"""The learner thought: lane 0 of a warp is alone, so it may write as it likes."""

from numba import cuda, float32

MISCONCEPTION = "lost-update"


@cuda.jit
def reduce_shuffle(values, out):
    i = cuda.grid(1)
    value = values[i] if i < values.size else float32(0.0)
    offset = 16
    while offset > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, offset)
        offset //= 2
    if cuda.laneid == 0:
        out[0] += value
