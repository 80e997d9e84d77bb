"""The learner thought: tasks are what is counted, with the right parts and results; the centres are computed here."""

import numpy as np
from joblib import Parallel, delayed

MISCONCEPTION = "not-by-messages"


def partial(part, centres):
    chosen = np.eye(len(centres))[((part[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)]
    return chosen.T @ part, chosen.sum(axis=0)


def parallel_kmeans_step(X, centres, n_jobs):
    Parallel(n_jobs=n_jobs)(delayed(partial)(part, centres) for part in np.array_split(X, n_jobs))
    sums, counts = partial(X, centres)
    return np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centres)
