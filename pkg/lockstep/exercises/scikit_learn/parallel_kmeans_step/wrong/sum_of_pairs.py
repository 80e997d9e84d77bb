"""The learner thought: sum adds whatever comes."""

import numpy as np
from joblib import Parallel, delayed

MISCONCEPTION = "crashed:RankRaised"
RAISES = r"for \+: 'int' and 'tuple'"
TELL = "sum cannot add pairs. Add their parts: sum(s for s, _ in found), and the same for the counts."


def nearest(part, centres):
    return ((part[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)


def partial(part, centres):
    chosen = np.eye(len(centres))[nearest(part, centres)]
    return chosen.T @ part, chosen.sum(axis=0)


def parallel_kmeans_step(X, centres, n_jobs):
    parts = np.array_split(X, n_jobs)
    found = Parallel(n_jobs=n_jobs)(delayed(partial)(part, centres) for part in parts)
    sums, counts = sum(found)
    return np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centres)
