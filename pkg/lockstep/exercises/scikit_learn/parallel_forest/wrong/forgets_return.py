"""The learner thought: what stands last is the result."""

import numpy as np
from joblib import Parallel, delayed
from sklearn.tree import DecisionTreeClassifier

MISCONCEPTION = "wrong-type"
TELL = "Does your function end with return?"


def grow(X, y, seed, i):
    random = np.random.default_rng([seed, i])
    rows = random.integers(len(X), size=len(X))
    state = int(random.integers(2**31))
    return DecisionTreeClassifier(max_features="sqrt", random_state=state).fit(X[rows], y[rows])


def parallel_forest(X, y, n_trees, n_jobs, seed):
    Parallel(n_jobs=n_jobs)(delayed(grow)(X, y, seed, i) for i in range(n_trees))
