"""numpy's own fit, and the pair as an array."""

import numpy


def fit_alpha_beta(nbytes, seconds):
    return numpy.polyfit(nbytes, seconds, 1)[::-1]
