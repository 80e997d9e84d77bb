"""The learner returned the slope."""

from statistics import linear_regression

MISCONCEPTION = "wrong-type"


def fit_alpha_beta(nbytes, seconds):
    return linear_regression(nbytes, seconds).slope
