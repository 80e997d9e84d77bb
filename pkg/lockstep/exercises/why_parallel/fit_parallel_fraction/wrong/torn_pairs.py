"""The learner thought: more workers take less time, so both lists can be put in order."""

import numpy as np

MISCONCEPTION = "torn-pairs"
TELL = (
    "Here a time no longer stands beside its number of workers: a list was sorted by itself. Sort pairs, "
    "sorted(zip(workers, times)), or do not sort: a line needs no order."
)


def fit_parallel_fraction(workers, times):
    parallel, serial = np.polyfit([1 / s for s in sorted(workers)], sorted(times, reverse=True), 1)
    return float(parallel / (serial + parallel))
