"""The learner thought: what counts is that there are tasks. The centres are computed by the caller all the same."""

import numpy as np
from joblib import Parallel, delayed

MISCONCEPTION = "not-by-messages"


def parallel_kmeans_step(X, centres, n_jobs):
    Parallel(n_jobs=n_jobs)(delayed(len)(part) for part in np.array_split(X, n_jobs))
    labels = ((X[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)
    moved = centres.astype(float)
    for k in set(labels.tolist()):
        moved[k] = X[labels == k].mean(axis=0)
    return moved
