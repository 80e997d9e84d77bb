"""The learner thought: first a mean for each size, then a line through these."""

import numpy as np

MISCONCEPTION = "equal-sizes"
TELL = "You fit the means of each size, as if each had been measured as often: all measurements count."


def fit_alpha_beta(nbytes, seconds):
    times = {}
    for n, t in zip(nbytes, seconds):
        times.setdefault(n, []).append(t)
    n = np.array(list(times), dtype=float)
    t = np.array([np.mean(values) for values in times.values()])
    beta = ((n - n.mean()) * (t - t.mean())).sum() / ((n - n.mean()) ** 2).sum()
    return float(t.mean() - beta * n.mean()), float(beta)
