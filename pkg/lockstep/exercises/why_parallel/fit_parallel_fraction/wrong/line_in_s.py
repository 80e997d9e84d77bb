"""The learner thought: times fall along a line as workers are added."""

import numpy as np

MISCONCEPTION = "against-workers"
TELL = "This is a line against s. Times against s are a curve, and no line fits it. Against 1/s they are a line."


def fit_parallel_fraction(workers, times):
    slope, start = np.polyfit(workers, times, 1)
    return float(-slope / start)
