"""The serial grid search that answers are compared with, and the ways of scoring that learners take for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lockstep.checks.scikit_learn.folds import Folds

SPLITS = 3
GRID: dict[str, list[Any]] = {"max_depth": [1, 3, 30, 40], "criterion": ["gini", "entropy"]}
CANDIDATES = 8

Scores = Callable[[Any, np.ndarray, np.ndarray, np.ndarray, np.ndarray], float]  # estimator, X, y, train, test


def training_data(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Deep trees are best, and those of depths 30 and 40 are the same: there is a tie for the first place."""
    random = np.random.default_rng(seed)
    X = random.integers(-50, 50, (90, 4)).astype(float)
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def splitter(seed: int) -> Folds:
    return Folds(SPLITS, seed % 1000)


def candidates() -> list[dict[str, Any]]:
    from sklearn.model_selection import ParameterGrid

    return list(ParameterGrid(GRID))


def score_table(seed: int, scores: Scores) -> np.ndarray:
    """The score of every candidate (row) on every fold (column)."""
    from sklearn.tree import DecisionTreeClassifier

    X, y = training_data(seed)
    folds = list(splitter(seed).split(X, y))
    return np.array([
        [scores(DecisionTreeClassifier(random_state=0, **p), X, y, train, test) for train, test in folds]
        for p in candidates()
    ])  # fmt: skip


def mean_scores(seed: int, scores: Scores) -> np.ndarray:
    found: np.ndarray = score_table(seed, scores).mean(axis=1)
    return found


def score(estimator: Any, X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> float:
    return float(estimator.fit(X[train], y[train]).score(X[test], y[test]))


def _on_training(estimator: Any, X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> float:
    return float(estimator.fit(X[train], y[train]).score(X[train], y[train]))


def _leak(estimator: Any, X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> float:
    return float(estimator.fit(X, y).score(X[test], y[test]))


def _swapped(estimator: Any, X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> float:
    return float(estimator.fit(X[test], y[test]).score(X[train], y[train]))


WRONG_SCORES: Sequence[tuple[str, str, Scores]] = (
    ("scores-training-rows", "you score on the rows that you fitted. Deep trees look perfect there. Score on the rows "
     "of the fold that were left out.", _on_training),
    ("leak", "you fit to all the rows, those of the fold included. Fit to the rows `train` only.", _leak),
    ("swapped", "train and test are exchanged: cv.split gives (train, test).", _swapped),
)  # fmt: skip

WRONG_REDUCTIONS: Sequence[tuple[str, str, Callable[..., np.ndarray]]] = (
    ("not-the-mean", "these are medians over the folds. Return means.", np.median),
    ("not-the-mean", "these are the scores of each candidate's best fold. Return means over the folds.", np.max),
    ("not-the-mean", "these are the scores of each candidate's worst fold. Return means over the folds.", np.min),
)  # fmt: skip
