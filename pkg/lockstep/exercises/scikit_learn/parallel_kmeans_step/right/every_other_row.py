"""Every n_jobs-th row is a part, and the sums are a product with a one-hot matrix."""

import numpy as np
from joblib import Parallel, delayed


def sums_and_counts(part, centres):
    k = len(centres)
    distance = np.stack([((part - centre) ** 2).sum(axis=1) for centre in centres], axis=1)
    one_hot = np.eye(k)[distance.argmin(axis=1)]
    return one_hot.T @ part, one_hot.sum(axis=0)


def parallel_kmeans_step(X, centres, n_jobs):
    parts = [X[j::n_jobs] for j in range(n_jobs)]
    found = Parallel(n_jobs=n_jobs)(delayed(sums_and_counts)(part, centres) for part in parts)
    sums = sum(one for one, _ in found)
    counts = sum(one for _, one in found)[:, None]
    return np.where(counts > 0, sums / np.maximum(counts, 1), centres)
