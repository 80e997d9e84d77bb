"""The learner thought: numba divides the elements itself, so I need no workers."""

from numba import njit, prange

MISCONCEPTION = "ignores-workers"


@njit(parallel=True)
def parallel_sum(x, workers):
    total = 0.0
    for i in prange(x.size):
        total += x[i]
    return total
