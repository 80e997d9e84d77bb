"""k-means with the learner's line: lesson 01 asks how to combine the workers' results, and runs that line in here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from lockstep.classical.kmeans import parallel_kmeans_step, sums_and_counts
from lockstep.tables import Table

Mean = Callable[[Sequence[Any], Sequence[int]], Any]  # (the workers' sums, their counts) -> the mean of all rows

ROWS, CENTRES, WORKERS, STEPS = 4000, 5, 3, 4


def driven_kmeans_step(X: np.ndarray, centres: np.ndarray, n_jobs: int, mean: Mean) -> np.ndarray:
    """``parallel_kmeans_step`` in which ``mean`` combines the workers' partial results for a centre."""
    parts = np.array_split(X, n_jobs)
    found = Parallel(n_jobs=n_jobs, prefer="threads")(delayed(sums_and_counts)(part, centres) for part in parts)
    moved = centres.astype(float)
    for k in range(len(centres)):
        counts = [int(c[k]) for _, c in found]
        if sum(counts):
            moved[k] = mean([s[k] for s, _ in found], counts)
    return moved


def kmeans_table(mean: Mean) -> Table:
    """Some steps with that line, each compared with the serial step from the same centres. The rows are sorted, so that
    the workers' parts differ."""
    dice = np.random.default_rng(0)
    X = dice.standard_normal((ROWS, 2)) + dice.integers(0, 3, (ROWS, 1))
    X = X[np.argsort(X[:, 0])]
    centres, rows = X[:: ROWS // CENTRES].copy(), []
    for step in range(1, STEPS + 1):
        moved = driven_kmeans_step(X, centres, WORKERS, mean)
        off = float(np.abs(moved - parallel_kmeans_step(X, centres, 1)).max())
        rows.append([str(step), f"{float(np.abs(moved - centres).max()):.3f}", "none" if off < 1e-9 else f"{off:.3f}"])
        centres = moved
    head = ["step", "the farthest that a centre moved", "difference from the serial step"]
    return Table(f"By your line: k-means on {WORKERS} workers, {ROWS:,} rows", head, rows)
