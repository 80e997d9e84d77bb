"""The learner thought: a row that is drawn twice is a row with the weight 2."""

import numpy as np
from joblib import Parallel, delayed
from sklearn.tree import DecisionTreeClassifier

MISCONCEPTION = "other-rows"


def parallel_forest(X, y, n_trees, n_jobs, seed):
    n = len(X)

    def grow(i):
        random = np.random.default_rng([seed, i])
        rows = random.integers(n, size=n)
        state = int(random.integers(2**31))
        tree = DecisionTreeClassifier(max_features="sqrt", random_state=state)
        return tree.fit(X, y, sample_weight=np.bincount(rows, minlength=n))

    return Parallel(n_jobs=n_jobs)(delayed(grow)(i) for i in range(n_trees))
