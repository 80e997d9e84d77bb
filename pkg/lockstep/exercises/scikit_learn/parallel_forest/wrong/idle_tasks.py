"""The learner thought: what counts is the number of tasks. The last one grows the whole forest."""

import numpy as np
from joblib import Parallel, delayed
from sklearn.tree import DecisionTreeClassifier

MISCONCEPTION = "idle-tasks"


def grow(X, y, numbers, seed):
    trees = []
    for i in numbers:
        random = np.random.default_rng([seed, i])
        rows = random.integers(len(X), size=len(X))
        tree = DecisionTreeClassifier(max_features="sqrt", random_state=int(random.integers(2**31)))
        trees.append(tree.fit(X[rows], y[rows]))
    return trees


def parallel_forest(X, y, n_trees, n_jobs, seed):
    numbers = [[]] * (n_trees - 1) + [range(n_trees)]
    found = Parallel(n_jobs=n_jobs)(delayed(grow)(X, y, part, seed) for part in numbers)
    return [tree for trees in found for tree in trees]
