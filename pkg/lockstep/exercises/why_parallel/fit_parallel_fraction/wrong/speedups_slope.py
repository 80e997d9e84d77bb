"""The learner thought: what is measured are speedups, and 1/S = (1-p) + p/s."""

import numpy as np

MISCONCEPTION = "times-not-speedups"
TELL = "This is a fit to times as if they were speedups. They are seconds: the larger, the slower."


def fit_parallel_fraction(workers, times):
    return float(np.polyfit([1 / s for s in workers], [1 / t for t in times], 1)[0])
