"""Trees release the GIL while they grow: threads do, and need no copies."""

import numpy as np
from joblib import Parallel, delayed
from sklearn.tree import DecisionTreeClassifier


def grow(X, y, random):
    rows = random.integers(len(X), size=len(X))
    tree = DecisionTreeClassifier(max_features="sqrt", random_state=int(random.integers(2**31)))
    return tree.fit(X[rows], y[rows])


def parallel_forest(X, y, n_trees, n_jobs, seed):
    generators = (np.random.default_rng([seed, i]) for i in range(n_trees))
    return Parallel(n_jobs=n_jobs, prefer="threads")(delayed(grow)(X, y, random) for random in generators)
