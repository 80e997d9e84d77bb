"""A random forest in parallel: its trees are independent, so that each is a task of its own.

The forest is the same for every ``n_jobs`` because tree i draws its random numbers from (seed, i) alone, never from a
generator that tasks share. Breiman, Random Forests, Machine Learning 45 (2001).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import Parallel, delayed


def parallel_forest(X: np.ndarray, y: np.ndarray, n_trees: int, n_jobs: int, seed: int) -> list[Any]:
    """``n_trees`` fitted trees, in order. X is (n, d), y is (n,)."""
    return list(Parallel(n_jobs=n_jobs)(delayed(grow)(X, y, seed, i) for i in range(n_trees)))


def grow(X: np.ndarray, y: np.ndarray, seed: int, i: int) -> Any:
    """Tree i: fitted to a bootstrap sample, n rows drawn with replacement, with sqrt(d) features tried at each
    split."""
    from sklearn.tree import DecisionTreeClassifier

    random = np.random.default_rng([seed, i])
    rows = random.integers(len(X), size=len(X))
    tree = DecisionTreeClassifier(max_features="sqrt", random_state=int(random.integers(2**31)))
    return tree.fit(X[rows], y[rows])
