"""The learner gives beta in seconds per megabyte."""

import numpy

MISCONCEPTION = "wrong-unit"
TELL = "Your beta is 1,000,000 times too large: seconds per byte are wanted, neither microseconds per byte nor seconds per megabyte."


def fit_alpha_beta(nbytes, seconds):
    beta, alpha = numpy.polyfit(numpy.array(nbytes) / 1e6, seconds, 1)
    return alpha, beta
