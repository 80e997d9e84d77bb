"""The learner thought: the more tasks, the better."""

import numpy as np
from joblib import Parallel, delayed

MISCONCEPTION = "too-many-bytes-sent"


def nearest(row, centres):
    return int(((row - centres) ** 2).sum(axis=1).argmin())


def parallel_kmeans_step(X, centres, n_jobs):
    labels = np.array(Parallel(n_jobs=n_jobs)(delayed(nearest)(row, centres) for row in X))
    moved = centres.astype(float)
    for j in set(labels):
        moved[j] = X[labels == j].mean(axis=0)
    return moved
