"""The learner thought: a generator is a list."""

import numpy as np
from joblib import Parallel, delayed
from sklearn.tree import DecisionTreeClassifier

MISCONCEPTION = "wrong-type"
TELL = "Put list(...) around it."


def grow(X, y, seed, i):
    random = np.random.default_rng([seed, i])
    rows = random.integers(len(X), size=len(X))
    state = int(random.integers(2**31))
    return DecisionTreeClassifier(max_features="sqrt", random_state=state).fit(X[rows], y[rows])


def parallel_forest(X, y, n_trees, n_jobs, seed):
    found = Parallel(n_jobs=n_jobs)(delayed(grow)(X, y, seed, i) for i in range(n_trees))
    return (tree for tree in found)
