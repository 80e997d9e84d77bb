"""The learner took the fastest of each size, as one does when one measures oneself."""

from statistics import linear_regression

MISCONCEPTION = "fastest-only"
TELL = "You fit the shortest time of each size. Least squares takes every measurement as it is."


def fit_alpha_beta(nbytes, seconds):
    sizes = sorted(set(nbytes))
    shortest = [min(t for n, t in zip(nbytes, seconds, strict=True) if n == size) for size in sizes]
    beta, alpha = linear_regression(sizes, shortest)
    return alpha, beta
