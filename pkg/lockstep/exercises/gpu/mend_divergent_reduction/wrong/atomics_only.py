"""The learner thought: atomics mend every race."""

from numba import cuda

MISCONCEPTION = "all-atomic"
TELL = (
    "Every thread adds to out[0] by itself. Keep the tree: sum in shared memory, and let one thread add the "
    "block's sum."
)


@cuda.jit
def mend_divergent_reduction(values, out):
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.add(out, 0, values[i])
