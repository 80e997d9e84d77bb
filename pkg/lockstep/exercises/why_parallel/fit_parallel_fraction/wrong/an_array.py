"""The learner thought: an array with one number is a number."""

import numpy as np

MISCONCEPTION = "wrong-type"


def fit_parallel_fraction(workers, times):
    parallel, serial = np.polyfit([1 / s for s in workers], times, 1)
    return np.array([parallel / (serial + parallel)])
