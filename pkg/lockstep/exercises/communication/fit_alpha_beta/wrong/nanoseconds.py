"""The learner gives beta in nanoseconds per byte."""

from statistics import linear_regression

MISCONCEPTION = "constant-factor"


def fit_alpha_beta(nbytes, seconds):
    beta, alpha = linear_regression(nbytes, seconds)
    return alpha, 1e9 * beta
