"""The learner thought: the sums are the centres."""

import numpy as np
from joblib import Parallel, delayed

MISCONCEPTION = "not-divided"
TELL = "These are sums. Divide them by the counts."


def nearest(part, centres):
    return ((part[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)


def partial(part, centres):
    chosen = np.eye(len(centres))[nearest(part, centres)]
    return chosen.T @ part, chosen.sum(axis=0)


def parallel_kmeans_step(X, centres, n_jobs):
    parts = np.array_split(X, n_jobs)
    return sum(s for s, _ in Parallel(n_jobs=n_jobs)(delayed(partial)(part, centres) for part in parts))
