"""The learner thought: a dictionary keeps all runs. It keeps the last of each number of workers."""

import numpy as np

MISCONCEPTION = "one-run-of-each"


def fit_parallel_fraction(workers, times):
    runs = dict(zip(workers, times, strict=True))
    parallel, serial = np.polyfit([1 / s for s in runs], list(runs.values()), 1)
    return float(parallel / (serial + parallel))
