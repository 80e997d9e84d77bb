"""The learner thought: the tasks fill my dict, and then I read it in order."""

import numpy as np
from joblib import Parallel, delayed
from sklearn.tree import DecisionTreeClassifier

MISCONCEPTION = "shared-list"


def parallel_forest(X, y, n_trees, n_jobs, seed):
    trees = {}

    def task(i):
        random = np.random.default_rng([seed, i])
        rows = random.integers(len(X), size=len(X))
        tree = DecisionTreeClassifier(max_features="sqrt", random_state=int(random.integers(2**31)))
        trees[i] = tree.fit(X[rows], y[rows])

    Parallel(n_jobs=n_jobs)(delayed(task)(i) for i in range(n_trees))
    return [trees[i] for i in range(n_trees)]
