"""The learner left out the first measurement: it warms up."""

from statistics import linear_regression

MISCONCEPTION = "drops-first"
TELL = "You leave the first measurement out: use all of them."


def fit_alpha_beta(nbytes, seconds):
    beta, alpha = linear_regression(nbytes[1:], seconds[1:])
    return alpha, beta
