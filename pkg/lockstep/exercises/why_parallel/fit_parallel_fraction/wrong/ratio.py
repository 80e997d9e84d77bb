"""The learner thought: a fraction is one part divided by the other."""

import numpy as np

MISCONCEPTION = "ratio-of-parts"
TELL = "This is one part divided by the other. p is the parallel part divided by both together."


def fit_parallel_fraction(workers, times):
    parallel, serial = np.polyfit([1 / s for s in workers], times, 1)
    return float(parallel / serial)
