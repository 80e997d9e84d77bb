"""numpy's newer way to fit a line."""

import numpy as np


def fit_parallel_fraction(workers, times):
    line = np.polynomial.Polynomial.fit([1 / s for s in workers], times, 1).convert()
    serial, parallel = line.coef
    return float(parallel / (serial + parallel))
