"""The learner thought: the mean of each number of workers says what its runs say."""

import numpy as np

MISCONCEPTION = "means-count-alike"
TELL = (
    "This is the line through one mean for each number of workers, however many runs are in it. Each run counts "
    "alike: fit the line through the runs themselves."
)


def fit_parallel_fraction(workers, times):
    of = {}
    for s, t in zip(workers, times):
        of.setdefault(s, []).append(t)
    parallel, serial = np.polyfit([1 / s for s in of], [np.mean(t) for t in of.values()], 1)
    return float(parallel / (serial + parallel))
