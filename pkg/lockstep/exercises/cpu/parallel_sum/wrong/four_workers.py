"""The learner thought: My machine has four cores."""

from numba import njit, prange

MISCONCEPTION = "ignores-workers"


@njit(parallel=True)
def parallel_sum(x, workers):
    total = 0.0
    for w in prange(4):
        s = 0.0
        for i in range(w * x.size // 4, (w + 1) * x.size // 4):
            s += x[i]
        total += s
    return total
