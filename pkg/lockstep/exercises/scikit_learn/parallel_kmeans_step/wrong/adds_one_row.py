"""The learner thought: sums[labels] += part adds every row to its centre."""

import numpy as np
from joblib import Parallel, delayed

MISCONCEPTION = "adds-one-row"
TELL = (
    "Each worker adds only one row to a centre, the last: sums[labels] += part does so where a label occurs "
    "several times. np.add.at(sums, labels, part) adds them all."
)


def partial(part, centres):
    labels = ((part[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)
    sums = np.zeros(centres.shape)
    sums[labels] += part
    return sums, np.bincount(labels, minlength=len(centres))


def parallel_kmeans_step(X, centres, n_jobs):
    found = Parallel(n_jobs=n_jobs)(delayed(partial)(part, centres) for part in np.array_split(X, n_jobs))
    sums, counts = sum(s for s, _ in found), sum(c for _, c in found)
    moved = centres.astype(float)
    moved[counts > 0] = sums[counts > 0] / counts[counts > 0, None]
    return moved
