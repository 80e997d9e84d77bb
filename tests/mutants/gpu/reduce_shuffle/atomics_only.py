"""The learner thought: the hardware adds atomically, so there is nothing to do."""

from numba import cuda

MISCONCEPTION = "all-atomic"


@cuda.jit
def reduce_shuffle(values, out):
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.add(out, 0, values[i])
