"""The learner thought: bincount counts every centre."""

import numpy as np
from joblib import Parallel, delayed

MISCONCEPTION = "crashed:RankRaised"
RAISES = r"shapes \(\d+,(\d+)\) \(\d+,1\)|shapes \(\d+,\) \(\d+,\)"
TELL = (
    "There is not a count for each centre. np.bincount is only as long as its largest label: np.bincount(..., "
    "minlength=len(centres))."
)


def nearest(part, centres):
    return ((part[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)


def partial(part, centres):
    chosen = np.eye(len(centres))[nearest(part, centres)]
    return chosen.T @ part, np.bincount(nearest(part, centres))


def parallel_kmeans_step(X, centres, n_jobs):
    parts = np.array_split(X, n_jobs)
    found = Parallel(n_jobs=n_jobs)(delayed(partial)(part, centres) for part in parts)
    sums, counts = sum(s for s, _ in found), sum(c for _, c in found)
    return np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centres)
