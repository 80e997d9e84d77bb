"""The learner thought: an error counts as a share of its time."""

import numpy as np

MISCONCEPTION = "weights"
TELL = (
    "This is the line of least squares of relative errors, in which short runs count more. No run counts more "
    "than another: the errors are in seconds."
)


def fit_parallel_fraction(workers, times):
    s, t = np.array(workers, dtype=float), np.array(times)
    columns = np.stack([1 / t, 1 / (s * t)], axis=1)
    serial, parallel = np.linalg.lstsq(columns, np.ones_like(t), rcond=None)[0]
    return float(parallel / (serial + parallel))
