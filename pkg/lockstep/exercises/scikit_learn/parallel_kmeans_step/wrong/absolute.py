"""The learner thought: a distance is a sum of differences."""

import numpy as np
from joblib import Parallel, delayed

MISCONCEPTION = "other-distance"
TELL = "Your rows belong to other centres: this is by the distance |x| + |y| + ... Nearest is by the sum of squares."


def partial(part, centres):
    chosen = np.eye(len(centres))[np.abs(part[:, None] - centres[None]).sum(axis=2).argmin(axis=1)]
    return chosen.T @ part, chosen.sum(axis=0)


def parallel_kmeans_step(X, centres, n_jobs):
    found = Parallel(n_jobs=n_jobs)(delayed(partial)(part, centres) for part in np.array_split(X, n_jobs))
    sums, counts = sum(s for s, _ in found), sum(c for _, c in found)
    moved = centres.astype(float)
    moved[counts > 0] = sums[counts > 0] / counts[counts > 0, None]
    return moved
