"""The learner gives beta in seconds per megabyte."""

import numpy

MISCONCEPTION = "wrong-unit"


def fit_alpha_beta(nbytes, seconds):
    beta, alpha = numpy.polyfit(numpy.array(nbytes) / 1e6, seconds, 1)
    return alpha, beta
