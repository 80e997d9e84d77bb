"""The learner thought: the workers count, and the caller, who has all rows, adds them up."""

import numpy as np
from joblib import Parallel, delayed

MISCONCEPTION = "not-by-workers"


def nearest(part, centres):
    return ((part[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)


def count(part, centres):
    return np.bincount(nearest(part, centres), minlength=len(centres))


def parallel_kmeans_step(X, centres, n_jobs):
    counts = sum(Parallel(n_jobs=n_jobs)(delayed(count)(part, centres) for part in np.array_split(X, n_jobs)))
    labels, moved = nearest(X, centres), centres.astype(float)
    for k in np.flatnonzero(counts):
        moved[k] = X[labels == k].sum(axis=0) / counts[k]
    return moved
