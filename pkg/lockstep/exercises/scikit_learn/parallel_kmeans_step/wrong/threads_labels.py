"""The learner thought: with threads it does not matter what a task returns."""

import numpy as np
from joblib import Parallel, delayed

MISCONCEPTION = "too-many-bytes-returned"


def nearest(part, centres):
    return ((part[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)


def parallel_kmeans_step(X, centres, n_jobs):
    parts = np.array_split(X, n_jobs)
    labels = np.concatenate(Parallel(n_jobs=n_jobs, prefer="threads")(delayed(nearest)(p, centres) for p in parts))
    moved = centres.astype(float)
    for j in set(labels):
        moved[j] = X[labels == j].mean(axis=0)
    return moved
