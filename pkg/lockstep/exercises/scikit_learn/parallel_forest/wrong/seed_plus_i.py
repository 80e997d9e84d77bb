"""The learner thought: seed + i is a seed of its own for every tree."""

import numpy as np
from joblib import Parallel, delayed
from sklearn.tree import DecisionTreeClassifier

MISCONCEPTION = "other-seeds"
TELL = "Forests of seeds 1 and 2 would share almost all their trees: [seed, i] for tree i."


def grow(X, y, random):
    rows = random.integers(len(X), size=len(X))
    tree = DecisionTreeClassifier(max_features="sqrt", random_state=int(random.integers(2**31)))
    return tree.fit(X[rows], y[rows])


def parallel_forest(X, y, n_trees, n_jobs, seed):
    return Parallel(n_jobs=n_jobs)(delayed(grow)(X, y, np.random.default_rng(seed + i)) for i in range(n_trees))
