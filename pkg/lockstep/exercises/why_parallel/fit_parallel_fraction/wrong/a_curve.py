"""The learner thought: the function shall return the fitted times."""

import numpy as np

MISCONCEPTION = "wrong-type"


def fit_parallel_fraction(workers, times):
    line = np.polyfit([1 / s for s in workers], times, 1)
    return [float(np.polyval(line, 1 / s)) for s in workers]
