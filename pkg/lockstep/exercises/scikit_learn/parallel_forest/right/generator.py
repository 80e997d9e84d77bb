"""Results are taken as they come, in order."""

import numpy as np
from joblib import Parallel, delayed
from sklearn.tree import DecisionTreeClassifier


def parallel_forest(X, y, n_trees, n_jobs, seed):
    @delayed
    def tree(i):
        random = np.random.default_rng([seed, i])
        rows = random.integers(len(X), size=len(X))
        state = int(random.integers(2**31))
        return DecisionTreeClassifier(max_features="sqrt", random_state=state).fit(X[rows], y[rows])

    return list(Parallel(n_jobs=n_jobs, return_as="generator")(tree(i) for i in range(n_trees)))
