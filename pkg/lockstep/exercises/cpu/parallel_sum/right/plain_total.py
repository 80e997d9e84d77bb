"""A total that is a plain number; the first workers take one element more."""

from numba import njit, prange


@njit(parallel=True)
def parallel_sum(x, workers):
    each, more = x.size // workers, x.size % workers
    total = 0.0
    for w in prange(workers):
        begin = w * each + int(min(w, more))
        end = begin + each
        if w < more:
            end += 1
        s = 0.0
        i = begin
        while i < end:
            s += x[i]
            i += 1
        total += s
    return total
