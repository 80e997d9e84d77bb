"""Parallel grid search: every (candidate, fold) is an independent task that returns a score."""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import Parallel, delayed


def parallel_grid_search(
    estimator: Any, grid: dict[str, list[Any]], X: np.ndarray, y: np.ndarray, cv: Any, n_jobs: int
) -> tuple[dict[str, Any], list[float]]:
    """(best parameters, mean score of each candidate in the order of ``ParameterGrid(grid)``).

    One list of tasks for the whole grid: with a list for each candidate, all workers would wait for the slowest fold
    of every candidate. The first of several best candidates wins. ``estimator`` is
    not changed.
    """
    from sklearn.model_selection import ParameterGrid

    candidates = list(ParameterGrid(grid))
    folds = list(cv.split(X, y))
    tasks = [(parameters, train, test) for parameters in candidates for train, test in folds]
    scores = Parallel(n_jobs=n_jobs)(
        delayed(score)(estimator, parameters, X, y, train, test) for parameters, train, test in tasks
    )
    means = np.reshape(scores, (len(candidates), len(folds))).mean(axis=1)
    return candidates[int(means.argmax())], means.tolist()


def score(
    estimator: Any, parameters: dict[str, Any], X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray
) -> float:
    """The score on the rows ``test`` of a clone with ``parameters``, fitted to the rows ``train``."""
    from sklearn.base import clone

    fitted = clone(estimator).set_params(**parameters).fit(X[train], y[train])
    return float(fitted.score(X[test], y[test]))
