"""The given array is moved in place, and returned."""

import numpy as np
from joblib import Parallel, delayed


def partial(part, centres):
    nearest = ((part[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)
    chosen = np.eye(len(centres))[nearest]
    return chosen.T @ part, chosen.sum(axis=0)


def parallel_kmeans_step(X, centres, n_jobs):
    found = Parallel(n_jobs=n_jobs)(delayed(partial)(part, centres) for part in np.array_split(X, n_jobs))
    sums, counts = (sum(values) for values in zip(*found, strict=True))
    for j in range(len(centres)):
        if counts[j]:
            centres[j] = sums[j] / counts[j]
    return centres
