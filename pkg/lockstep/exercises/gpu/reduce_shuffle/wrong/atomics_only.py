"""The learner thought: the hardware adds atomically, so there is nothing to do."""

from numba import cuda

MISCONCEPTION = "all-atomic"
TELL = "Every lane adds to out[0] by itself. Let a warp sum by shuffles, and lane 0 add once."


@cuda.jit
def reduce_shuffle(values, out):
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.add(out, 0, values[i])
