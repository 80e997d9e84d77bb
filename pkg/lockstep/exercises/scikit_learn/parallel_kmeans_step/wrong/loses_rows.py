"""The learner thought: n // n_jobs rows for each worker."""

import numpy as np
from joblib import Parallel, delayed

MISCONCEPTION = "loses-rows"
TELL = "The last rows are lost: n_jobs does not divide their number. np.array_split cuts any number."


def nearest(part, centres):
    return ((part[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)


def partial(part, centres):
    chosen = np.eye(len(centres))[nearest(part, centres)]
    return chosen.T @ part, chosen.sum(axis=0)


def parallel_kmeans_step(X, centres, n_jobs):
    each = len(X) // n_jobs
    parts = [X[k * each : (k + 1) * each] for k in range(n_jobs)]
    found = Parallel(n_jobs=n_jobs)(delayed(partial)(part, centres) for part in parts)
    sums, counts = sum(s for s, _ in found), sum(c for _, c in found)
    return np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centres)
