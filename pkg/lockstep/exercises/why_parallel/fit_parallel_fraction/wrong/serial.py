"""The learner thought: the fraction that matters is the serial one."""

import numpy as np

MISCONCEPTION = "serial-fraction"


def fit_parallel_fraction(workers, times):
    parallel, serial = np.polyfit([1 / s for s in workers], times, 1)
    return float(serial / (serial + parallel))
