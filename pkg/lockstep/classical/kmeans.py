"""One step of data-parallel k-means: each worker computes partial sums of its rows, and a reduction adds them up.

Means cannot be added; sums and counts can. So each worker sends k·(d + 1) numbers, whatever the
number of its rows. Lloyd, Least squares quantization in PCM, IEEE Trans. Inf. Theory 28 (1982).
"""

from __future__ import annotations

import numpy as np
from joblib import Parallel, delayed


def parallel_kmeans_step(X: np.ndarray, centres: np.ndarray, n_jobs: int) -> np.ndarray:
    """The mean of the rows nearest to each centre. X is (n, d); centres and the result are (k, d).

    A centre without rows is unchanged."""
    parts = np.array_split(X, n_jobs)
    partial = Parallel(n_jobs=n_jobs)(delayed(sums_and_counts)(part, centres) for part in parts)
    sums = sum(s for s, _ in partial)  # (k, d)
    counts = sum(c for _, c in partial)  # (k,)
    occupied = counts > 0
    moved = centres.astype(float)
    moved[occupied] = sums[occupied] / counts[occupied, None]
    return moved


def sums_and_counts(part: np.ndarray, centres: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The partial result of one worker: the sum (k, d) and the number (k,) of its rows nearest to each centre."""
    squared = ((part[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)  # (rows, k)
    nearest = squared.argmin(axis=1)
    sums = np.zeros(centres.shape)
    np.add.at(sums, nearest, part)
    return sums, np.bincount(nearest, minlength=len(centres))
