"""The learner thought: the seed makes it reproducible, so every task gets it."""

import numpy as np
from joblib import Parallel, delayed
from sklearn.tree import DecisionTreeClassifier

MISCONCEPTION = "other-seeds"
TELL = "Every tree has the same seed, and draws the same: [seed, i] for tree i."


def grow(X, y, random):
    rows = random.integers(len(X), size=len(X))
    tree = DecisionTreeClassifier(max_features="sqrt", random_state=int(random.integers(2**31)))
    return tree.fit(X[rows], y[rows])


def parallel_forest(X, y, n_trees, n_jobs, seed):
    return Parallel(n_jobs=n_jobs)(delayed(grow)(X, y, np.random.default_rng(seed)) for _ in range(n_trees))
