"""The learner thought: the centres are whole numbers."""

import numpy as np
from joblib import Parallel, delayed

MISCONCEPTION = "cut-to-whole"
TELL = "These are the right centres, cut to whole numbers: an array of integers holds nothing else."


def partial(part, centres):
    chosen = np.eye(len(centres))[((part[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)]
    return chosen.T @ part, chosen.sum(axis=0)


def parallel_kmeans_step(X, centres, n_jobs):
    found = Parallel(n_jobs=n_jobs)(delayed(partial)(part, centres) for part in np.array_split(X, n_jobs))
    sums, counts = sum(s for s, _ in found), sum(c for _, c in found)
    moved = centres.astype(int)
    moved[counts > 0] = sums[counts > 0] / counts[counts > 0, None]
    return moved
