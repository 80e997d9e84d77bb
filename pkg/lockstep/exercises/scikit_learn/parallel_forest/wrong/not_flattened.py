"""The learner thought: the workers' lists are the forest."""

import numpy as np
from joblib import Parallel, delayed
from sklearn.tree import DecisionTreeClassifier

MISCONCEPTION = "wrong-type"
TELL = "Put the workers' lists together to one."


def grow(X, y, random):
    rows = random.integers(len(X), size=len(X))
    tree = DecisionTreeClassifier(max_features="sqrt", random_state=int(random.integers(2**31)))
    return tree.fit(X[rows], y[rows])


def several(X, y, seed, trees):
    return [grow(X, y, np.random.default_rng([seed, i])) for i in trees]


def parallel_forest(X, y, n_trees, n_jobs, seed):
    parts = np.array_split(np.arange(n_trees), n_jobs)
    return Parallel(n_jobs=n_jobs)(delayed(several)(X, y, seed, part) for part in parts)
