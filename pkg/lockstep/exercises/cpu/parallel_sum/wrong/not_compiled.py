"""The learner thought: Threads are for numba, and sums are for Python."""

MISCONCEPTION = "not-compiled"


def parallel_sum(x, workers):
    return float(x.sum())
