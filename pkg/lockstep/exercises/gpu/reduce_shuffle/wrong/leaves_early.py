"""The learner thought: a thread without an element has nothing to add."""

from numba import cuda

MISCONCEPTION = "inactive-lanes"


@cuda.jit
def reduce_shuffle(values, out):
    i = cuda.grid(1)
    if i >= values.size:
        return
    value = values[i]
    offset = 16
    while offset > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, offset)
        offset //= 2
    if cuda.laneid == 0:
        cuda.atomic.add(out, 0, value)
