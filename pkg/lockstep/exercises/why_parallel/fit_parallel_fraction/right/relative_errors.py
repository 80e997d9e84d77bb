"""Least squares of relative errors: a run's error counts as a share of its time."""

import numpy as np


def fit_parallel_fraction(workers, times):
    s, t = np.array(workers, dtype=float), np.array(times)
    columns = np.stack([1 / t, 1 / (s * t)], axis=1)
    serial, parallel = np.linalg.lstsq(columns, np.ones_like(t), rcond=None)[0]
    return float(parallel / (serial + parallel))
