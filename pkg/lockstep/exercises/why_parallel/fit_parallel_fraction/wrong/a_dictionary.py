"""The learner thought: a dictionary keeps all runs. It keeps the last of each number of workers."""

import numpy as np

MISCONCEPTION = "one-run-of-each"
TELL = (
    "This is the line through the last run of each number of workers. The others are measurements as well: fit "
    "the line through all runs."
)


def fit_parallel_fraction(workers, times):
    runs = dict(zip(workers, times, strict=True))
    parallel, serial = np.polyfit([1 / s for s in runs], list(runs.values()), 1)
    return float(parallel / (serial + parallel))
