"""The learner thought: the fraction that matters is the serial one."""

import numpy as np

MISCONCEPTION = "serial-fraction"
TELL = (
    "This is the serial fraction, 1 - p. Is your slope where the other number should be? np.polyfit gives the "
    "slope first."
)


def fit_parallel_fraction(workers, times):
    parallel, serial = np.polyfit([1 / s for s in workers], times, 1)
    return float(serial / (serial + parallel))
