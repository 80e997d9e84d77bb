"""The learner thought: runs of many workers matter more."""

import numpy as np

MISCONCEPTION = "weights"
TELL = (
    "This is a line in which runs of many workers count more. No run counts more than another: leave the weights out."
)


def fit_parallel_fraction(workers, times):
    parallel, serial = np.polyfit([1 / s for s in workers], times, 1, w=workers)
    return float(parallel / (serial + parallel))
