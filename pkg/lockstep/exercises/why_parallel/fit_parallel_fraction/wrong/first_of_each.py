"""The learner thought: each number of workers needs to be looked up once."""

import numpy as np

MISCONCEPTION = "one-run-of-each"
TELL = (
    "This is the line through the first run of each number of workers. The others are measurements as well: fit "
    "the line through all runs."
)


def fit_parallel_fraction(workers, times):
    of = {}
    for s, t in zip(workers, times):
        of.setdefault(s, []).append(t)
    parallel, serial = np.polyfit([1 / s for s in of], [t[0] for t in of.values()], 1)
    return float(parallel / (serial + parallel))
