"""The learner thought: every centre has rows."""

import numpy as np
from joblib import Parallel, delayed

MISCONCEPTION = "empty-centre"
TELL = "The centre that no row is nearest to moves here. It stays where it is: divide only where there are rows."


def nearest(part, centres):
    return ((part[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)


def partial(part, centres):
    chosen = np.eye(len(centres))[nearest(part, centres)]
    return chosen.T @ part, chosen.sum(axis=0)


def parallel_kmeans_step(X, centres, n_jobs):
    parts = np.array_split(X, n_jobs)
    found = Parallel(n_jobs=n_jobs)(delayed(partial)(part, centres) for part in parts)
    sums, counts = sum(s for s, _ in found), sum(c for _, c in found)
    with np.errstate(invalid="ignore"):
        return sums / counts[:, None]
