"""numba knows sums: each thread gets a total of its own, and they are added up."""

from numba import njit, prange


@njit(parallel=True)
def parallel_sum(x, workers):
    total = 0.0
    for w in prange(workers):
        for i in range(w * x.size // workers, (w + 1) * x.size // workers):
            total += x[i]
    return total
