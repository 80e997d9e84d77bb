"""The learner thought: the order of the draws does not matter."""

import numpy as np
from joblib import Parallel, delayed
from sklearn.tree import DecisionTreeClassifier

MISCONCEPTION = "other-rows"
TELL = "The random_state is drawn before the rows: first the rows, random.integers(n, size=n)."


def grow(X, y, seed, i):
    random = np.random.default_rng([seed, i])
    state = int(random.integers(2**31))
    rows = random.integers(len(X), size=len(X))
    return DecisionTreeClassifier(max_features="sqrt", random_state=state).fit(X[rows], y[rows])


def parallel_forest(X, y, n_trees, n_jobs, seed):
    return Parallel(n_jobs=n_jobs)(delayed(grow)(X, y, seed, i) for i in range(n_trees))
