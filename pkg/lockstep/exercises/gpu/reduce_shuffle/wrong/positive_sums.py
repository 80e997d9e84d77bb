"""The learner thought: a sum that is not above 0 needs no addition."""

from numba import cuda, float32

MISCONCEPTION = "wrong-values"


@cuda.jit
def reduce_shuffle(values, out):
    i = cuda.grid(1)
    value = values[i] if i < values.size else float32(0.0)

    offset = 16
    while offset > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, offset)
        offset //= 2
    if cuda.laneid == 0 and value > 0:
        cuda.atomic.add(out, 0, value)
