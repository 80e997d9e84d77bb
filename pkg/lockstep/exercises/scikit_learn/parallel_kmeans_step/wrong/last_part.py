"""The learner thought: the loop's variables hold the total."""

import numpy as np
from joblib import Parallel, delayed

MISCONCEPTION = "no-reduce"
TELL = "These are the means of the last worker's rows. Add the sums and the counts of all workers first."


def nearest(part, centres):
    return ((part[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)


def partial(part, centres):
    chosen = np.eye(len(centres))[nearest(part, centres)]
    return chosen.T @ part, chosen.sum(axis=0)


def parallel_kmeans_step(X, centres, n_jobs):
    parts = np.array_split(X, n_jobs)
    for sums, counts in Parallel(n_jobs=n_jobs)(delayed(partial)(part, centres) for part in parts):
        moved = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centres)
    return moved
