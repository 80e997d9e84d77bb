"""The learner thought: every worker grows n_trees // n_jobs trees."""

import numpy as np
from joblib import Parallel, delayed
from sklearn.tree import DecisionTreeClassifier

MISCONCEPTION = "wrong-number"


def grow(X, y, random):
    rows = random.integers(len(X), size=len(X))
    tree = DecisionTreeClassifier(max_features="sqrt", random_state=int(random.integers(2**31)))
    return tree.fit(X[rows], y[rows])


def several(X, y, seed, trees):
    return [grow(X, y, np.random.default_rng([seed, i])) for i in trees]


def parallel_forest(X, y, n_trees, n_jobs, seed):
    each = n_trees // n_jobs
    parts = [range(k * each, (k + 1) * each) for k in range(n_jobs)]
    return [
        tree
        for trees in Parallel(n_jobs=n_jobs)(delayed(several)(X, y, seed, part) for part in parts)
        for tree in trees
    ]
