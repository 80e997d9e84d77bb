"""One step of k-means on parts of the data: map partial sums, reduce them by addition. An all-reduce in all but name.

A mean cannot be added to another mean; sums and counts can. So each worker sends k·(d + 1) numbers, however many rows
it has. Lloyd, Least squares quantization in PCM, IEEE Trans. Inf. Theory 28 (1982).
"""

from __future__ import annotations

import numpy as np
from joblib import Parallel, delayed


def parallel_kmeans_step(X: np.ndarray, centres: np.ndarray, n_jobs: int) -> np.ndarray:
    """The means of the rows nearest to each centre. X is (n, d), centres (k, d), and so is the result.

    A centre that no row is nearest to stays where it is."""
    parts = np.array_split(X, n_jobs)
    partial = Parallel(n_jobs=n_jobs)(delayed(sums_and_counts)(part, centres) for part in parts)
    sums = sum(s for s, _ in partial)  # (k, d)
    counts = sum(c for _, c in partial)  # (k,)
    occupied = counts > 0
    moved = centres.astype(float)
    moved[occupied] = sums[occupied] / counts[occupied, None]
    return moved


def sums_and_counts(part: np.ndarray, centres: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What a worker knows of its rows: for each centre, the sum (k, d) and the number (k,) of those nearest to it."""
    squared = ((part[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)  # (rows, k)
    nearest = squared.argmin(axis=1)
    sums = np.zeros(centres.shape)
    np.add.at(sums, nearest, part)
    return sums, np.bincount(nearest, minlength=len(centres))
