"""Least squares by hand: beta is covariance over variance."""

from statistics import mean


def fit_alpha_beta(nbytes, seconds):
    n, t = mean(nbytes), mean(seconds)
    beta = sum((a - n) * (b - t) for a, b in zip(nbytes, seconds, strict=True)) / sum((a - n) ** 2 for a in nbytes)
    return t - beta * n, beta
