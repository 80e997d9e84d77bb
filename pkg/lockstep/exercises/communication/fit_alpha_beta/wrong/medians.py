"""The learner took the median of each size, so that late messages do not count."""

from statistics import linear_regression, median

MISCONCEPTION = "medians"
TELL = "You fit one time for each size, its median. Least squares takes every measurement as it is."


def fit_alpha_beta(nbytes, seconds):
    sizes = sorted(set(nbytes))
    middle = [median(t for n, t in zip(nbytes, seconds, strict=True) if n == size) for size in sizes]
    beta, alpha = linear_regression(sizes, middle)
    return alpha, beta
