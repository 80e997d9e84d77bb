"""The learner thought: a tree wants numbers from 0 on as classes."""

import numpy as np
from joblib import Parallel, delayed
from sklearn.tree import DecisionTreeClassifier

MISCONCEPTION = "other-labels"


def parallel_forest(X, y, n_trees, n_jobs, seed):
    n = len(X)
    _, classes = np.unique(y, return_inverse=True)

    def grow(i):
        random = np.random.default_rng([seed, i])
        rows = random.integers(n, size=n)
        state = int(random.integers(2**31))
        return DecisionTreeClassifier(max_features="sqrt", random_state=state).fit(X[rows], classes[rows])

    return Parallel(n_jobs=n_jobs)(delayed(grow)(i) for i in range(n_trees))
