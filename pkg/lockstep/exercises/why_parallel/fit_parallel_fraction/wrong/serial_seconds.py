"""The learner thought: the other number of the line is p."""

import numpy as np

MISCONCEPTION = "seconds-not-share"
TELL = "The line is right, but these are seconds. p is a share: the parallel seconds divided by all."


def fit_parallel_fraction(workers, times):
    return float(np.polyfit([1 / s for s in workers], times, 1)[1])
