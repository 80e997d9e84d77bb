"""The learner made a dict of the measurements, which has one for each size."""

from statistics import linear_regression

MISCONCEPTION = "wrong-values"


def fit_alpha_beta(nbytes, seconds):
    times = dict(zip(nbytes, seconds, strict=True))
    beta, alpha = linear_regression(list(times), list(times.values()))
    return alpha, beta
