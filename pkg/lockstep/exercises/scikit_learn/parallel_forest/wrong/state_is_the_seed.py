"""The learner thought: the random_state is the seed."""

import numpy as np
from joblib import Parallel, delayed
from sklearn.tree import DecisionTreeClassifier

MISCONCEPTION = "other-random_state"
TELL = "The random_state is the second draw of the tree's own generator: int(random.integers(2**31))."


def grow(X, y, seed, i):
    random = np.random.default_rng([seed, i])
    rows = random.integers(len(X), size=len(X))
    state = seed
    return DecisionTreeClassifier(max_features="sqrt", random_state=state).fit(X[rows], y[rows])


def parallel_forest(X, y, n_trees, n_jobs, seed):
    return Parallel(n_jobs=n_jobs)(delayed(grow)(X, y, seed, i) for i in range(n_trees))
