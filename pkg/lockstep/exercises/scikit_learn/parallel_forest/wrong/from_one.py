"""The learner thought: the first tree is tree 1."""

import numpy as np
from joblib import Parallel, delayed
from sklearn.tree import DecisionTreeClassifier

MISCONCEPTION = "other-seeds"
TELL = "The first tree is tree 0: i begins with 0, not with 1."


def grow(X, y, seed, i):
    random = np.random.default_rng([seed, i])
    rows = random.integers(len(X), size=len(X))
    state = int(random.integers(2**31))
    return DecisionTreeClassifier(max_features="sqrt", random_state=state).fit(X[rows], y[rows])


def parallel_forest(X, y, n_trees, n_jobs, seed):
    return Parallel(n_jobs=n_jobs)(delayed(grow)(X, y, seed, i) for i in range(1, n_trees + 1))
