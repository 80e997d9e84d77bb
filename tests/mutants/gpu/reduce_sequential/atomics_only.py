"""The learner thought: atomic additions are safe, so why build a tree?"""

from numba import cuda

MISCONCEPTION = "all-atomic"


@cuda.jit
def reduce_sequential(values, out):
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.add(out, 0, values[i])
