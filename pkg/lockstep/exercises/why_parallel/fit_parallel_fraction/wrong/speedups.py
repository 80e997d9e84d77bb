"""The learner thought: what is measured are speedups."""

import numpy as np

MISCONCEPTION = "times-not-speedups"
TELL = "This is a fit to times as if they were speedups. They are seconds: the larger, the slower."


def fit_parallel_fraction(workers, times):
    slope, start = np.polyfit([1 / s for s in workers], [1 / t for t in times], 1)
    return float(slope / (start + slope))
