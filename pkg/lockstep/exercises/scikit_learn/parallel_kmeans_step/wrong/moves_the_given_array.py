"""The learner thought: the centres move, so I move them."""

import numpy as np
from joblib import Parallel, delayed

MISCONCEPTION = "changes-arguments"
TELL = "These are the caller's centres, moved. Move a copy: centres.astype(float) is one, np.asarray(centres) is none."


def partial(part, centres):
    nearest = ((part[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)
    chosen = np.eye(len(centres))[nearest]
    return chosen.T @ part, chosen.sum(axis=0)


def parallel_kmeans_step(X, centres, n_jobs):
    found = Parallel(n_jobs=n_jobs)(delayed(partial)(part, centres) for part in np.array_split(X, n_jobs))
    sums, counts = (sum(values) for values in zip(*found, strict=True))
    for j in range(len(centres)):
        if counts[j]:
            centres[j] = sums[j] / counts[j]
    return centres
