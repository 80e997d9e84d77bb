"""The learner thought: tasks are what is counted; the trees are grown by the caller all the same."""

import numpy as np
from joblib import Parallel, delayed
from sklearn.tree import DecisionTreeClassifier

MISCONCEPTION = "called-at-once"


def grow(X, y, seed, i):
    random = np.random.default_rng([seed, i])
    rows = random.integers(len(X), size=len(X))
    state = int(random.integers(2**31))
    return DecisionTreeClassifier(max_features="sqrt", random_state=state).fit(X[rows], y[rows])


def parallel_forest(X, y, n_trees, n_jobs, seed):
    Parallel(n_jobs=n_jobs)(delayed(grow)(X, y, seed, i) for i in range(n_trees))
    return [grow(X, y, seed, i) for i in range(n_trees)]
