"""The learner thought: lane 0 asks each of the others."""

from numba import cuda, float32

MISCONCEPTION = "too-many-shuffles"


@cuda.jit
def reduce_shuffle(values, out):
    i = cuda.grid(1)
    value = values[i] if i < values.size else float32(0.0)
    total = value
    for offset in range(1, 32):
        total += cuda.shfl_down_sync(0xFFFFFFFF, value, offset)
    if cuda.laneid == 0:
        cuda.atomic.add(out, 0, total)
