"""The learner thought: the slope of the line is p."""

import numpy as np

MISCONCEPTION = "seconds-not-share"


def fit_parallel_fraction(workers, times):
    return float(np.polyfit([1 / s for s in workers], times, 1)[0])
