"""The learner thought: a median is safer than a mean."""

import numpy as np

MISCONCEPTION = "one-run-of-each"
TELL = (
    "This is the line through the medians of each number of workers. Least squares count every run: fit the line "
    "through all of them."
)


def fit_parallel_fraction(workers, times):
    of = {}
    for s, t in zip(workers, times):
        of.setdefault(s, []).append(t)
    parallel, serial = np.polyfit([1 / s for s in of], [np.median(t) for t in of.values()], 1)
    return float(parallel / (serial + parallel))
