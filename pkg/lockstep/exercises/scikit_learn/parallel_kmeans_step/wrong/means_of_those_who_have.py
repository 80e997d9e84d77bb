"""The learner thought: the mean of the workers' means is the mean, if those without rows of a cluster are left out."""

import numpy as np
from joblib import Parallel, delayed

MISCONCEPTION = "mean-of-means"
TELL = (
    "These are averages of the workers' means. A worker with 3 rows of a cluster counts as much there as one with "
    "1,000. Add sums and add counts, and divide once, at the end."
)
VARIANTS = ["mean_of_means"]


def means(part, centres):
    labels = ((part[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)
    return {k: part[labels == k].mean(axis=0) for k in set(labels.tolist())}


def parallel_kmeans_step(X, centres, n_jobs):
    found = Parallel(n_jobs=n_jobs)(delayed(means)(part, centres) for part in np.array_split(X, n_jobs))
    moved = centres.astype(float)
    for k in range(len(centres)):
        having = [mean[k] for mean in found if k in mean]
        if having:
            moved[k] = np.mean(having, axis=0)
    return moved
