"""The learner thought: the tasks add to my arrays."""

import numpy as np
from joblib import Parallel, delayed

MISCONCEPTION = "shared-list"


def parallel_kmeans_step(X, centres, n_jobs):
    sums, counts = np.zeros(centres.shape), np.zeros(len(centres))

    def add(part):
        nearest = ((part[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)
        np.add.at(sums, nearest, part)
        np.add.at(counts, nearest, 1)

    Parallel(n_jobs=n_jobs)(delayed(add)(part) for part in np.array_split(X, n_jobs))
    return np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centres)
