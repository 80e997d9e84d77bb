"""The learner thought: of several runs the best counts, as in the lesson."""

import numpy as np

MISCONCEPTION = "one-run-of-each"
TELL = (
    "This is the line through the best run of each number of workers. The others are measurements as well: fit "
    "the line through all runs."
)


def fit_parallel_fraction(workers, times):
    best = {}
    for s, t in zip(workers, times, strict=True):
        best[s] = min(t, best.get(s, t))
    parallel, serial = np.polyfit([1 / s for s in best], list(best.values()), 1)
    return float(parallel / (serial + parallel))
