"""The learner thought: every worker comes to the same centres, so one of the results is enough."""

import numpy as np
from joblib import Parallel, delayed

MISCONCEPTION = "no-reduce"
TELL = "These are the means of the first worker's rows. Add the sums and the counts of all workers first."


def partial(part, centres):
    labels = ((part[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)
    chosen = np.eye(len(centres))[labels]
    return chosen.T @ part, chosen.sum(axis=0)


def parallel_kmeans_step(X, centres, n_jobs):
    found = Parallel(n_jobs=n_jobs)(delayed(partial)(part, centres) for part in np.array_split(X, n_jobs))
    sums, counts = found[0]
    return np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centres)
