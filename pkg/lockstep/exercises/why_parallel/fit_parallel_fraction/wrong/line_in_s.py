"""The learner thought: times fall along a line as workers are added."""

import numpy as np

MISCONCEPTION = "against-workers"


def fit_parallel_fraction(workers, times):
    slope, start = np.polyfit(workers, times, 1)
    return float(-slope / start)
