"""choice draws the same rows; threads; the parameters set one by one."""

import numpy as np
from joblib import Parallel, delayed
from sklearn.tree import DecisionTreeClassifier


def one_tree(X, y, seed, number):
    random = np.random.default_rng([seed, number])
    rows = random.choice(len(X), size=len(X))
    tree = DecisionTreeClassifier(max_features="sqrt")
    tree.set_params(random_state=int(random.integers(0, 2**31)))
    return tree.fit(X[rows], y[rows])


def parallel_forest(X, y, n_trees, n_jobs, seed):
    with Parallel(n_jobs=n_jobs, prefer="threads") as parallel:
        return parallel([delayed(one_tree)(X, y, seed, number) for number in range(n_trees)])
