"""A dictionary of the centres that have rows: of each the sum and the count."""

import numpy as np
from joblib import Parallel, delayed


def partial(part, centres):
    nearest = ((part[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    return {k: (part[nearest == k].sum(axis=0), np.count_nonzero(nearest == k)) for k in np.unique(nearest)}


def parallel_kmeans_step(X, centres, n_jobs):
    found = Parallel(n_jobs=n_jobs)(delayed(partial)(part, centres) for part in np.array_split(X, n_jobs))
    moved = np.array(centres, dtype=float)
    for k in range(len(centres)):
        mine = [one[k] for one in found if k in one]
        if mine:
            moved[k] = sum(s for s, _ in mine) / sum(c for _, c in mine)
    return moved
