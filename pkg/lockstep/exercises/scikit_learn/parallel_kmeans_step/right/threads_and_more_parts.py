"""Threads, and more parts than workers."""

import numpy as np
from joblib import Parallel, delayed


def partial(part, centres):
    squared = (part**2).sum(1)[:, None] - 2 * part @ centres.T + (centres**2).sum(1)
    labels = squared.argmin(axis=1)
    counts = np.bincount(labels, minlength=len(centres))
    sums = [np.bincount(labels, weights=column, minlength=len(centres)) for column in part.T]
    return np.array(sums).T, counts


def parallel_kmeans_step(X, centres, n_jobs):
    parts = np.array_split(X, 3 * n_jobs)
    found = Parallel(n_jobs=n_jobs, prefer="threads")(delayed(partial)(part, centres) for part in parts)
    sums, counts = (sum(values) for values in zip(*found, strict=True))
    moved = centres.astype(float)
    moved[counts > 0] = sums[counts > 0] / counts[counts > 0, None]
    return moved
