"""Offsets from 1 to 16, the lane worked out from the thread's number."""

from numba import cuda, float32


@cuda.jit
def reduce_shuffle(values, out):
    i = cuda.grid(1)
    value = float32(0)
    if i < values.size:
        value = values[i]
    offset = 1
    while offset < 32:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, offset)
        offset *= 2
    if cuda.threadIdx.x % 32 == 0:
        cuda.atomic.add(out, 0, value)
