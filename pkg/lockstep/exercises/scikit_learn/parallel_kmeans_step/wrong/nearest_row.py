"""The learner thought: argmin finds the nearest."""

import numpy as np
from joblib import Parallel, delayed

MISCONCEPTION = "crashed:RankRaised"
RAISES = r"index \d+ is out of bounds for axis 0 with size (.|\n)*argmin"
TELL = "The distances have a row for each row of X: argmin(axis=1) is the nearest centre of each."


def partial(part, centres):
    chosen = np.eye(len(centres))[((part[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=0)]
    return chosen.T @ part, chosen.sum(axis=0)


def parallel_kmeans_step(X, centres, n_jobs):
    parts = np.array_split(X, n_jobs)
    found = Parallel(n_jobs=n_jobs)(delayed(partial)(part, centres) for part in parts)
    sums, counts = sum(s for s, _ in found), sum(c for _, c in found)
    return np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centres)
