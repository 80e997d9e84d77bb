"""The learner thought: everybody adds up x, and the mean of what they have is the sum."""

from numba import njit, prange

MISCONCEPTION = "shared-elements"


@njit(parallel=True)
def parallel_sum(x, workers):
    total = 0.0
    for w in prange(workers):
        for i in range(x.size):
            total += x[i]
    return total / workers
