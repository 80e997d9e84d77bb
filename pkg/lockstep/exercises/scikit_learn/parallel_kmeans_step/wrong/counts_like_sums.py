"""The learner thought: counts in the shape of the sums are easier to divide by."""

import numpy as np
from joblib import Parallel, delayed

MISCONCEPTION = "too-many-bytes-returned"


def parallel_kmeans_step(X, centres, n_jobs):
    def partial(part):
        nearest = ((part[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2).argmin(axis=1)
        one_hot = (nearest[:, None] == np.arange(len(centres))).astype(float)
        return one_hot.T @ part, one_hot.T @ np.ones(part.shape)

    found = Parallel(n_jobs=n_jobs)(delayed(partial)(part) for part in np.array_split(X, n_jobs))
    sums, counts = sum(f[0] for f in found), sum(f[1] for f in found)
    return np.where(counts > 0, sums / np.maximum(counts, 1), centres)
