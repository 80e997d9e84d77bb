"""The learner thought: log2 and sqrt are about the same."""

import numpy as np
from joblib import Parallel, delayed
from sklearn.tree import DecisionTreeClassifier

MISCONCEPTION = "other-max_features"


def parallel_forest(X, y, n_trees, n_jobs, seed):
    n = len(X)

    def grow(i):
        random = np.random.default_rng([seed, i])
        rows = random.integers(n, size=n)
        state = int(random.integers(2**31))
        return DecisionTreeClassifier(max_features="log2", random_state=state).fit(X[rows], y[rows])

    return Parallel(n_jobs=n_jobs)(delayed(grow)(i) for i in range(n_trees))
