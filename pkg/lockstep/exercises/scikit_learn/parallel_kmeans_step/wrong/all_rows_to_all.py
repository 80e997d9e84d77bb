"""The learner thought: every worker gets X and takes its slice."""

import numpy as np
from joblib import Parallel, delayed

MISCONCEPTION = "too-many-bytes-sent"


def nearest(part, centres):
    return ((part[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)


def partial(part, centres):
    chosen = np.eye(len(centres))[nearest(part, centres)]
    return chosen.T @ part, chosen.sum(axis=0)


def slice_of(X, centres, k, n_jobs):
    return partial(np.array_split(X, n_jobs)[k], centres)


def parallel_kmeans_step(X, centres, n_jobs):
    found = Parallel(n_jobs=n_jobs)(delayed(slice_of)(X, centres, k, n_jobs) for k in range(n_jobs))
    sums, counts = sum(s for s, _ in found), sum(c for _, c in found)
    return np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centres)
