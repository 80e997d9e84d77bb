"""The learner thought: the coefficients of Polynomial.fit are those of the line."""

import numpy as np

MISCONCEPTION = "not-converted"


def fit_parallel_fraction(workers, times):
    serial, parallel = np.polynomial.Polynomial.fit([1 / s for s in workers], times, 1).coef
    return float(parallel / (serial + parallel))
