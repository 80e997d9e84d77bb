"""The learner thought: the coefficients of Polynomial.fit are those of the line."""

import numpy as np

MISCONCEPTION = "not-converted"
TELL = (
    "These are coefficients of Polynomial.fit as they are: for shares mapped to -1 .. 1. Call .convert() first, "
    "or take np.polyfit."
)


def fit_parallel_fraction(workers, times):
    serial, parallel = np.polynomial.Polynomial.fit([1 / s for s in workers], times, 1).coef
    return float(parallel / (serial + parallel))
