"""The learner thought: what is handed to a task is computed by its worker."""

import numpy as np
from joblib import Parallel, delayed

MISCONCEPTION = "called-at-once"
TELL = (
    "The rows are added up before any worker begins: what stands in the brackets of a task is computed at once, by "
    "the caller. Hand each worker its rows, delayed(f)(part)."
)


def partial(part, centres):
    squared = ((part[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
    chosen = np.eye(len(centres))[squared.argmin(axis=1)]
    return chosen.T @ part, chosen.sum(axis=0)


def parallel_kmeans_step(X, centres, n_jobs):
    parts = np.array_split(X, n_jobs)
    found = Parallel(n_jobs=n_jobs)(delayed(tuple)(partial(part, centres)) for part in parts)
    sums, counts = sum(s for s, _ in found), sum(c for _, c in found)
    moved = centres.astype(float)
    moved[counts > 0] = sums[counts > 0] / counts[counts > 0, None]
    return moved
