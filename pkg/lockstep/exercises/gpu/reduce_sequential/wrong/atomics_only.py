"""The learner thought: atomic additions are safe, so why build a tree?"""

from numba import cuda

MISCONCEPTION = "all-atomic"
TELL = "Every thread adds to out[0] by itself. Sum in shared memory first, and let one thread add the block's sum."


@cuda.jit
def reduce_sequential(values, out):
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.add(out, 0, values[i])
