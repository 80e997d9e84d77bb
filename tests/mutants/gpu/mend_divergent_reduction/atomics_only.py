"""The learner thought: atomics mend every race."""

from numba import cuda

MISCONCEPTION = "all-atomic"


@cuda.jit
def mend_divergent_reduction(values, out):
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.add(out, 0, values[i])
