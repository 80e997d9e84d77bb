"""The learner thought: the rows can be drawn in parallel, too."""

import numpy as np
from joblib import Parallel, delayed
from sklearn.tree import DecisionTreeClassifier

MISCONCEPTION = "calls-twice"


def draw(n, seed, i):
    random = np.random.default_rng([seed, i])
    return random.integers(n, size=n), int(random.integers(2**31))


def grow(X, y, rows, state):
    return DecisionTreeClassifier(max_features="sqrt", random_state=state).fit(X[rows], y[rows])


def parallel_forest(X, y, n_trees, n_jobs, seed):
    drawn = Parallel(n_jobs=n_jobs)(delayed(draw)(len(X), seed, i) for i in range(n_trees))
    return Parallel(n_jobs=n_jobs)(delayed(grow)(X, y, rows, state) for rows, state in drawn)
