"""The learner thought: after the shuffles every lane has a part of the sum."""

from numba import cuda, float32

MISCONCEPTION = "every-lane-adds"
TELL = "Every lane adds what it holds. Only lane 0 holds its warp's sum."


@cuda.jit
def reduce_shuffle(values, out):
    i = cuda.grid(1)
    value = values[i] if i < values.size else float32(0.0)
    offset = 16
    while offset > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, offset)
        offset //= 2
    cuda.atomic.add(out, 0, value)
