"""The learner thought: NumPy is fast enough."""

import numpy as np

MISCONCEPTION = "serial"


def nearest(part, centres):
    return ((part[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)


def partial(part, centres):
    chosen = np.eye(len(centres))[nearest(part, centres)]
    return chosen.T @ part, chosen.sum(axis=0)


def parallel_kmeans_step(X, centres, n_jobs):
    sums, counts = partial(X, centres)
    return np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centres)
