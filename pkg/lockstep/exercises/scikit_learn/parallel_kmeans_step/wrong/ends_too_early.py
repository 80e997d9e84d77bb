"""The learner thought: a part that ends at b has rows up to b - 1, so it is X[a : b - 1]."""

import numpy as np
from joblib import Parallel, delayed

MISCONCEPTION = "wrong-values"


def nearest(part, centres):
    return ((part[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)


def partial(part, centres):
    rows = np.hstack([part, np.ones((len(part), 1))])
    total = np.zeros((len(centres), part.shape[1] + 1))
    np.add.at(total, nearest(part, centres), rows)
    return total


def parallel_kmeans_step(X, centres, n_jobs):
    sizes = [len(part) for part in np.array_split(X, n_jobs)]
    parts = [X[end - size : end - 1] for size, end in zip(sizes, np.cumsum(sizes), strict=True)]
    total = sum(Parallel(n_jobs=n_jobs)(delayed(partial)(part, centres) for part in parts))
    sums, counts = total[:, :-1], total[:, -1:]
    return np.where(counts > 0, sums / np.maximum(counts, 1), centres)
