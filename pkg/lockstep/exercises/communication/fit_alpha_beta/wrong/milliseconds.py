"""The learner prefers alpha in milliseconds."""

import numpy

MISCONCEPTION = "wrong-unit"
TELL = "Your alpha is in milliseconds; seconds are wanted."


def fit_alpha_beta(nbytes, seconds):
    beta, alpha = numpy.polyfit(nbytes, seconds, 1)
    return alpha * 1e3, beta
