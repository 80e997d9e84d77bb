"""The learner thought: a loop is right, so it is done."""

import numpy as np
from sklearn.tree import DecisionTreeClassifier

MISCONCEPTION = "serial"


def grow(X, y, random):
    rows = random.integers(len(X), size=len(X))
    tree = DecisionTreeClassifier(max_features="sqrt", random_state=int(random.integers(2**31)))
    return tree.fit(X[rows], y[rows])


def parallel_forest(X, y, n_trees, n_jobs, seed):
    return [grow(X, y, np.random.default_rng([seed, i])) for i in range(n_trees)]
