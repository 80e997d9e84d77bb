"""The learner thought: the first run only warms up."""

import numpy as np

MISCONCEPTION = "drops-runs"
TELL = "This is the line without the first run. The runs are in any order: leave none out."


def fit_parallel_fraction(workers, times):
    parallel, serial = np.polyfit([1 / s for s in workers[1:]], times[1:], 1)
    return float(parallel / (serial + parallel))
