"""The learner thought: more workers take less time, so both lists can be put in order."""

import numpy as np

MISCONCEPTION = "torn-pairs"


def fit_parallel_fraction(workers, times):
    workers.sort()
    times.sort(reverse=True)
    parallel, serial = np.polyfit([1 / s for s in workers], times, 1)
    return float(parallel / (serial + parallel))
