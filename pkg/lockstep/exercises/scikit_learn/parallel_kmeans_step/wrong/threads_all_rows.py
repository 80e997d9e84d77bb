"""The learner thought: threads see all the rows anyhow, so each may get them all."""

import numpy as np
from joblib import Parallel, delayed

MISCONCEPTION = "too-many-bytes-sent"


def partial(X, centres, worker, n_jobs):
    part = X[worker::n_jobs]
    nearest = ((part[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)
    chosen = np.eye(len(centres))[nearest]
    return chosen.T @ part, chosen.sum(axis=0)


def parallel_kmeans_step(X, centres, n_jobs):
    tasks = (delayed(partial)(X, centres, worker, n_jobs) for worker in range(n_jobs))
    sums, counts = (sum(values) for values in zip(*Parallel(n_jobs=n_jobs, prefer="threads")(tasks), strict=True))
    return np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centres)
