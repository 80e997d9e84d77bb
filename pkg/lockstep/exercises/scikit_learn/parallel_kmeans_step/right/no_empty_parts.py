"""Parts without rows are left out."""

import numpy as np
from joblib import Parallel, delayed


def parallel_kmeans_step(X, centres, n_jobs):
    def partial(part):
        nearest = ((part[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2).argmin(axis=1)
        one_hot = (nearest[:, None] == np.arange(len(centres))).astype(float)
        return one_hot.T @ part, one_hot.sum(axis=0)

    parts = [part for part in np.array_split(X, n_jobs) if len(part)]
    found = Parallel(n_jobs=n_jobs)(delayed(partial)(part) for part in parts)
    sums, counts = sum(f[0] for f in found), sum(f[1] for f in found)
    moved = centres.astype(float)
    moved[counts > 0] = sums[counts > 0] / counts[counts > 0][:, None]
    return moved
