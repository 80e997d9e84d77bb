"""The learner thought: the first time is that of one worker."""

import numpy as np

MISCONCEPTION = "first-is-one-worker"
TELL = (
    "Here the first time counts as that of one worker. Nobody says that it is: look at workers. A line through t "
    "against 1/s needs no such time."
)


def fit_parallel_fraction(workers, times):
    speedups = [times[0] / t for t in times]
    x = np.array([1 - 1 / s for s in workers])
    y = np.array([1 - 1 / S for S in speedups])
    return float((x * y).sum() / (x * x).sum())
