"""The learner thought: who wants to look at a value before adding it may shuffle once more."""

from numba import cuda, float32

MISCONCEPTION = "too-many-shuffles"


@cuda.jit
def reduce_shuffle(values, out):
    i = cuda.grid(1)
    value = values[i] if i < values.size else float32(0.0)

    offset = 16
    while offset > 0:
        if cuda.shfl_down_sync(0xFFFFFFFF, value, offset) > -1e30:
            value += cuda.shfl_down_sync(0xFFFFFFFF, value, offset)
        offset //= 2
    if cuda.laneid == 0:
        cuda.atomic.add(out, 0, value)
