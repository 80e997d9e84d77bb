"""The learner thought: one generator, and every tree draws from it."""

import numpy as np
from joblib import Parallel, delayed
from sklearn.tree import DecisionTreeClassifier

MISCONCEPTION = "other-seeds"
TELL = "One generator was made for all trees, and copies of it draw the same. Make one in each task: default_rng([seed, i])."


def grow(X, y, random):
    rows = random.integers(len(X), size=len(X))
    tree = DecisionTreeClassifier(max_features="sqrt", random_state=int(random.integers(2**31)))
    return tree.fit(X[rows], y[rows])


def parallel_forest(X, y, n_trees, n_jobs, seed):
    random = np.random.default_rng(seed)
    return Parallel(n_jobs=n_jobs)(delayed(grow)(X, y, random) for _ in range(n_trees))
