"""The learner thought: a tree is made by its constructor."""

import numpy as np
from joblib import Parallel, delayed
from sklearn.tree import DecisionTreeClassifier

MISCONCEPTION = "wrong-type"
TELL = "They are not fitted: call .fit(X[rows], y[rows])."


def grow(X, y, seed, i):
    random = np.random.default_rng([seed, i])
    random.integers(len(X), size=len(X))
    state = int(random.integers(2**31))
    return DecisionTreeClassifier(max_features="sqrt", random_state=state)


def parallel_forest(X, y, n_trees, n_jobs, seed):
    return Parallel(n_jobs=n_jobs)(delayed(grow)(X, y, seed, i) for i in range(n_trees))
