"""The learner thought: draw all the rows first, from one generator."""

import numpy as np
from joblib import Parallel, delayed
from sklearn.tree import DecisionTreeClassifier

MISCONCEPTION = "other-seeds"
TELL = "One generator was made for all trees: each tree hangs on those before it. Make one in each task: default_rng([seed, i])."


def fit(X, y, rows, state):
    return DecisionTreeClassifier(max_features="sqrt", random_state=state).fit(X[rows], y[rows])


def parallel_forest(X, y, n_trees, n_jobs, seed):
    random = np.random.default_rng(seed)
    n = len(X)
    drawn = [(random.integers(n, size=n), int(random.integers(2**31))) for _ in range(n_trees)]
    return Parallel(n_jobs=n_jobs)(delayed(fit)(X, y, rows, state) for rows, state in drawn)
