"""numba knows sums: each thread gets a total of its own, and they are added up."""

from numba import njit, prange


@njit(parallel=True)
def parallel_sum(x, workers):
    total = 0.0
    for i in prange(x.size):
        total += x[i]
    return total
