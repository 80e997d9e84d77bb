"""The learner thought: the mean of the workers' means is the mean."""

import numpy as np
from joblib import Parallel, delayed

MISCONCEPTION = "mean-of-means"
TELL = (
    "These are averages of the workers' means. A worker with 3 rows of a cluster counts as much there as one "
    "with 1,000. Add sums and add counts, and divide once, at the end."
)


def nearest(part, centres):
    return ((part[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)


def means(part, centres):
    labels = nearest(part, centres)
    return np.array([part[labels == k].mean(axis=0) if (labels == k).any() else c for k, c in enumerate(centres)])


def parallel_kmeans_step(X, centres, n_jobs):
    parts = np.array_split(X, n_jobs)
    return np.mean(Parallel(n_jobs=n_jobs)(delayed(means)(part, centres) for part in parts), axis=0)
