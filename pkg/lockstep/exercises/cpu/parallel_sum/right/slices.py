"""Each worker hands its piece to NumPy's sum."""

import numpy as np
from numba import njit, prange


@njit(parallel=True)
def parallel_sum(x, workers):
    partial = np.zeros(workers)
    for w in prange(workers):
        partial[w] = x[w * x.size // workers : (w + 1) * x.size // workers].sum()
    return partial.sum()
