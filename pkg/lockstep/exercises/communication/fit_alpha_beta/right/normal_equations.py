"""The normal equations, solved by Cramer's rule with sums in float64."""

import numpy as np


def fit_alpha_beta(nbytes, seconds):
    n, t = np.array(nbytes, dtype=float), np.array(seconds)
    det = len(n) * (n * n).sum() - n.sum() ** 2
    alpha = ((n * n).sum() * t.sum() - n.sum() * (n * t).sum()) / det
    return alpha, (len(n) * (n * t).sum() - n.sum() * t.sum()) / det
