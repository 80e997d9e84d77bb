"""The learner thought: the distances are the work; the rest can be done here."""

import numpy as np
from joblib import Parallel, delayed

MISCONCEPTION = "too-many-bytes-returned"


def nearest(part, centres):
    return ((part[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)


def parallel_kmeans_step(X, centres, n_jobs):
    parts = np.array_split(X, n_jobs)
    labels = np.concatenate(Parallel(n_jobs=n_jobs)(delayed(nearest)(part, centres) for part in parts))
    moved = centres.astype(float)
    for k in np.unique(labels):
        moved[k] = X[labels == k].mean(axis=0)
    return moved
